// The workflows that the client tests run; written into the test's workspace.
import assert from 'node:assert/strict';

// Its first step blocks if only notes are sent; then a decision and two more steps.
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
    { id: 'announce', title: 'Announce', prompt: 'Say what was released to {{environment}}.' },
  ],
};

// No writes while planning, and never out of scope.
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
// Two agents work in parallel; the last step sums up their findings.
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

// The next call of an agent with `deliveries` {stepId: [arguments of continue_workflow, …]}: takes the token from the
// last answer and delivers the next one for the pending step. Nothing if the workflow is complete.
export function nextDelivery(line, deliveries) {
  if (line.kind === 'complete') return undefined;
  const token = line.kind === 'blocked' ? line.retryContinueToken : line.continueToken;
  const delivery = deliveries[line.pending.stepId]?.shift();
  assert.ok(delivery, `nothing left to deliver for: ${JSON.stringify(line)}`);
  return { continueToken: token, ...delivery };
}

export const notes = (notesMarkdown) => ({ output: { notesMarkdown } });

// Runs `release`, and at first omits what the first step requires.
export const forgetfulRelease = () => ({
  look: [notes('Two changes.'), { ...notes('Two changes.'), context: { changes: ['a faster import', 'a new icon'] } }],
  release: [notes('Released.')],
  announce: [notes('Announced it.')],
});
