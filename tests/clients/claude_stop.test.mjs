// Claude Code with the Stop hook: what an agent says at the end of its turn is held to the contract of questions.
import assert from 'node:assert/strict';

import { ScriptedModel, say } from './anthropic.mjs';
import { runClaude } from './claude.mjs';
import { scenario } from './support.mjs';

scenario('a soft offer at the end is sent back, a well-formed block is accepted', async (place) => {
  place.signalbox('hook', 'install', '--project', '--stop');
  const block = 'Which environment should get it?\n\n1. staging\n2. production\n\nReply with the number.';
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return say('The tests pass. Let me know if you want me to deploy.');
    return say(block);
  });
  const claude = await runClaude(place, model, 'Run the tests.', {});
  assert.equal(model.turns.length, 2);
  assert.match(model.turns[1].turn.said, /Stop hook/);
  assert.equal(claude.last.result, block);
});
