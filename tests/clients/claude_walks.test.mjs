// Claude Code with our hooks walks a flow and a chain in its own dialog, to the end: after each answer the hook hands
// the agent the next question, which the scripted model asks exactly as given.
import assert from 'node:assert/strict';

import { ScriptedModel, call, say } from './anthropic.mjs';
import { ClaudeCode, runClaude } from './claude.mjs';
import { scenario } from './support.mjs';

const release = {
  flow: 'release',
  steps: [
    { key: 'branch', instruction: 'Which branch should be released?', options: ['main', 'release', 'hotfix'] },
    { key: 'env', instruction: 'Which environments?', select: 'many', options: ['staging', 'production', 'canary'] },
  ],
};
const bots = {
  chain: 'bots',
  skill: 'roadmap',
  number: 3,
  relation: 'independent',
  options: [1, 2, 3, 4, 5].map((n) => ({
    key: `E${n}`, label: `Bot ${n}`, eli10: 'It answers.', recommend: { choice: 'include', reason: 'often asked for' },
  })),
};

// The model: plans the declaration, then asks whatever call it was handed last, and ends when there is none.
const walker = (seen) => (turn, n) => {
  if (n === 1) {
    return call('Bash', {
      command: 'signalbox render --def question.json --host ask_user_question', description: 'Plan the question',
    });
  }
  const told = JSON.stringify(turn);
  seen.push(told);
  const handed = lastCall(told);
  return handed ? call('AskUserQuestion', handed) : say('Released.');
};

// The last `{"questions":…}` in what the model was sent, unless it was asked already.
const asked = new Set();
function lastCall(told) {
  const found = [...told.matchAll(
    /\{(?:\\+)"questions(?:\\+)":.*?(?:\\+)"metadata(?:\\+)":\{.*?\}\}/g,
  )].map(([text]) => text);
  for (const text of found.reverse()) {
    let plain = text;
    for (let i = 0; i < 4; i += 1) {
      try {
        const value = JSON.parse(plain);
        const key = value.questions[0].question;
        if (asked.has(key)) break;
        asked.add(key);
        return value;
      } catch {
        plain = JSON.parse(`"${plain}"`);
      }
    }
  }
  return null;
}

// The person, who gives these answers one after the other.
const person = (answers, shown) => (request) => {
  if (request.tool_name !== 'AskUserQuestion') return { behavior: 'allow', updatedInput: request.input };
  const [question] = request.input.questions;
  shown.push(question.question);
  const answer = answers.shift() ?? 'no answer left';
  const label = question.options.map((option) => option.label).find((each) => each.startsWith(answer)) ?? answer;
  return { behavior: 'allow', updatedInput: { ...request.input, answers: { [question.question]: label } } };
};

scenario('a flow is walked in the dialog, with edit, to its confirmation', async (place) => {
  place.write('question.json', release);
  place.signalbox('hook', 'install', '--project');
  const shown = [];
  const model = await ScriptedModel.start(place, walker([]));
  const answers = ['hotfix', 'staging, canary', 'Edit', 'branch', 'main', 'Confirm'];
  await runClaude(place, model, 'Release it.', { permit: person(answers, shown) });
  assert.deepEqual(answers, []);
  assert.match(shown[2], /^Summary:.*\n- branch: hotfix\n- env: staging, canary$/);
  const [decision] = place.json('inbox', 'list', '--all').decisions;
  assert.equal(decision.outcome, 'answered');
  assert.deepEqual(decision.values, { branch: 'main', env: ['staging', 'canary'] });
});

scenario('a chain of five is walked in the dialog, with Hold and revise', async (place) => {
  place.write('question.json', bots);
  place.signalbox('hook', 'install', '--project');
  const shown = [];
  const answers = ['Include', 'Hold'];
  const model = await ScriptedModel.start(place, walker([]));
  const claude = new ClaudeCode(place, model, { permit: person(answers, shown) });
  await claude.ask('Which bots?');
  assert.equal(shown.length, 2);
  answers.push('Include', 'Defer', 'Cut', 'Include', 'Revise', 'Bot 3', 'Include', 'Ship');
  await claude.ask('continue');
  assert.deepEqual(answers, []);
  assert.equal(await claude.quit(), 0);
  const [decision] = place.json('inbox', 'list', '--all').decisions;
  assert.deepEqual(decision.values, { E1: 'include', E2: 'include', E3: 'include', E4: 'cut', E5: 'include' });
});
