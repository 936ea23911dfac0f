// Claude Code compacts a conversation in the middle of a workflow; the hooks restore the open step.
import assert from 'node:assert/strict';

import { ScriptedModel, billed, say } from './anthropic.mjs';
import { ClaudeCode, deliver, overStdio, startOf, tool } from './claude.mjs';
import { scenario } from './support.mjs';
import { install, nextDelivery, notes } from './workflows.mjs';

const threeSteps = {
  id: 'acme.three',
  name: 'Three',
  description: 'Three steps.',
  version: '1.0.0',
  steps: ['one', 'two', 'three'].map((id) => ({ id, title: `Step ${id}`, prompt: `Do ${id}.` })),
};
const isAskedForSummary = (turn) => /Please provide your summary/.test(turn.said);
// Tokens the agent received after the compaction.
const tokensIn = (turn) => [...new Set(turn.all.match(/\bct_\w+/g) ?? [])];

// An agent that writes nothing useful when asked for a summary.
function agent(place, seen) {
  const deliveries = { one: [notes('One.')], two: [notes('Two.')], three: [notes('Three.')] };
  return (turn, n) => {
    if (isAskedForSummary(turn)) return say('<summary>We were working on something.</summary>');
    if (n === 1) return startOf(place, threeSteps, 'Do three things');
    const line = turn.latestLine();
    if (line?.pending?.stepId === 'two' && !seen.brought) return billed({ input_tokens: 190_000 }, ...seen.atTwo());
    if (!line) {
      seen.brought = turn.all;
      const [token, ...others] = tokensIn(turn);
      assert.deepEqual(others, [], 'the hook restored one token');
      assert.ok(token, `the hook restored no token in: ${turn.said}`);
      return deliver({ continueToken: token, ...deliveries.two.shift() });
    }
    const next = nextDelivery(line, deliveries);
    return next ? deliver(next) : say('All three are done.');
  };
}

function check(place, claude, seen) {
  assert.ok(seen.brought, 'the conversation was compacted');
  assert.match(seen.brought, /Step two/);
  const used = claude.toolResults().map((result) => result.name);
  assert.ok(!used.includes(tool('resume_session')));
  assert.equal(place.session().session.status, 'complete');
}

scenario('compaction in the middle of a turn', async (place) => {
  install(place, threeSteps);
  place.signalbox('hook', 'install', '--project');
  const seen = { atTwo: () => [say('Now for the second.'), listing()] };
  const model = await ScriptedModel.start(place, agent(place, seen));
  const env = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' };
  const claude = new ClaudeCode(place, model, { server: overStdio(place), env });
  assert.equal((await claude.ask('Do three things.')).result, 'All three are done.');
  assert.equal(await claude.quit(), 0);
  check(place, claude, seen);
});

scenario('/compact between two turns', async (place) => {
  install(place, threeSteps);
  place.signalbox('hook', 'install', '--project');
  const seen = { atTwo: () => [say('One is done.')] };
  const model = await ScriptedModel.start(place, agent(place, seen));
  const claude = new ClaudeCode(place, model, { server: overStdio(place) });
  assert.equal((await claude.ask('Do three things.')).result, 'One is done.');
  await claude.ask('/compact');
  assert.equal((await claude.ask('Continue.')).result, 'All three are done.');
  assert.equal(await claude.quit(), 0);
  check(place, claude, seen);
});

scenario('a conversation resumed by another process', async (place) => {
  install(place, threeSteps);
  place.signalbox('hook', 'install', '--project');
  const left = { one: [notes('One.')], three: [notes('Three.')] };
  const server = overStdio(place);
  let brought;
  let first;
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return startOf(place, threeSteps, 'Do three things');
    if (/Continue\./.test(turn.said)) {
      // After the kill, Claude Code may have lost the last answer; the hook has the current state.
      brought = turn.said;
      return deliver({ continueToken: /at step 2 of 3[^]*?\b(ct_\w+)/.exec(brought)?.[1], ...notes('Two.') });
    }
    const line = turn.latestLine();
    if (line.pending?.stepId === 'two') {
      first.process.kill('SIGKILL');
      return say('No one receives this.');
    }
    const next = nextDelivery(line, left);
    return next ? deliver(next) : say('All three are done.');
  });
  first = new ClaudeCode(place, model, { server });
  await assert.rejects(first.ask('Do three things.'), /ended \(SIGKILL\)/);
  const second = new ClaudeCode(place, model, { server, args: ['--continue'] });
  assert.equal((await second.ask('Continue.')).result, 'All three are done.');
  assert.equal(await second.quit(), 0);
  assert.match(brought, /step 2 of 3: Step two/);
  assert.equal(place.session().session.status, 'complete');
});

function listing() {
  return { type: 'tool_use', name: 'Bash', input: { command: 'ls', description: 'list' } };
}
