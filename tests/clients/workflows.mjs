// Workflows that the tests of all clients lead their agents through; written into the workspace of a place.
import assert from 'node:assert/strict';

// Blocked once by whoever sends only notes, a decision in the middle, and something to do after it.
export const release = {
  id: 'acme.release',
  name: 'Release',
  description: 'Looks at what would be released, lets a person pick the environment, and releases.',
  version: '1.0.0',
  steps: [
    {
      id: 'look',
      title: 'Look',
      prompt: 'List what would be released.',
      captures: { changes: { type: 'array', minItems: 1, items: { type: 'string' } } },
    },
    {
      id: 'where',
      type: 'decision',
      title: 'Pick the environment',
      decision: {
        instruction: 'Which environment should get it?',
        options: [{ id: 'staging', label: 'Staging' }, { id: 'production', label: 'Production' }],
        select: 'one',
      },
      captureAs: 'environment',
    },
    { id: 'release', title: 'Release', prompt: 'Release to {{environment}}.', needs: ['environment'] },
    { id: 'tell', title: 'Tell', prompt: 'Say what was released to {{environment}}.' },
  ],
};

// Nothing may be touched while it is planned, and what is out of scope never.
export const change = {
  id: 'acme.change',
  name: 'Change',
  description: 'Plans a change without touching anything, then makes it.',
  version: '1.0.0',
  steps: [
    {
      id: 'shape',
      title: 'Shape',
      prompt: 'Say what is out of scope.',
      captures: { outOfScope: { type: 'array', items: { type: 'string' } } },
      writes: 'none',
    },
    { id: 'plan', title: 'Plan', prompt: 'Plan the change.', writes: 'none', commands: 'read-only' },
    { id: 'build', title: 'Build', prompt: 'Make the change.', writes: ['src/**'] },
  ],
};

const look = (id) => ({
  id: `acme.look-${id}`,
  name: `Look ${id}`,
  description: `Looks ${id}.`,
  version: '1.0.0',
  steps: [{ id: 'look', title: 'Look', prompt: 'Look at: {{goal}}' }],
});
// Two agents look at the same time; what they found is summed up.
export const lookWide = look('wide');
export const lookDeep = look('deep');
export const twoLooks = {
  id: 'acme.two-looks',
  name: 'Two looks',
  description: 'Looks from two sides at once.',
  version: '1.0.0',
  steps: [
    {
      id: 'both',
      type: 'parallel',
      title: 'Look from two sides',
      parallelDelegations: [
        { id: 'wide', workflowId: lookWide.id, captureAs: 'wide' },
        { id: 'deep', workflowId: lookDeep.id, captureAs: 'deep' },
      ],
    },
    { id: 'sum-up', title: 'Sum up', prompt: 'Wide: {{wide}}\nDeep: {{deep}}' },
  ],
};

export function install(place, ...workflows) {
  for (const workflow of workflows) place.write(`.signalbox/workflows/${workflow.id}.json`, workflow);
}

// What an agent does next that has `deliveries` {stepId: [arguments of continue_workflow, …]}: takes the token out of
// the last answer and delivers the next one of the pending step. Nothing when the workflow is complete.
export function nextDelivery(line, deliveries) {
  if (line.kind === 'complete') return undefined;
  const token = line.kind === 'blocked' ? line.retryContinueToken : line.continueToken;
  const delivery = deliveries[line.pending.stepId]?.shift();
  assert.ok(delivery, `nothing more to deliver for this: ${JSON.stringify(line)}`);
  return { continueToken: token, ...delivery };
}

export const notes = (notesMarkdown) => ({ output: { notesMarkdown } });

// Goes through `release`, and forgets at first what its first step asks for.
export const forgetfulRelease = () => ({
  look: [notes('Two changes.'), { ...notes('Two changes.'), context: { changes: ['a faster import', 'a new icon'] } }],
  release: [notes('Released.')],
  tell: [notes('Told everybody.')],
});
