// Claude Code with a parallel step: a subagent runs each child session, and the join reports the outcomes.
import assert from 'node:assert/strict';

import { ScriptedModel, call, fails, say } from './anthropic.mjs';
import { deliver, overStdio, runClaude, startOf } from './claude.mjs';
import { scenario } from './support.mjs';
import { install, lookDeep, lookWide, notes, twoLooks } from './workflows.mjs';

// The first message of a subagent is the agent's instruction.
const childOf = (turn) => /You look (\w+)\. Your token: (ct_\w+)/.exec(turn.task);

function subagent(turn, [, id, token]) {
  if (id === 'deep') return fails('this one dies');
  const line = turn.latestLine();
  if (!line) return deliver({ continueToken: token });
  if (line.kind === 'complete') return say('Looked.');
  return deliver({ continueToken: line.continueToken, ...notes('Wide is fine.') });
}

scenario('one of two subagents fails, and the join reports which', async (place) => {
  install(place, lookWide, lookDeep, twoLooks);
  let join;
  const model = await ScriptedModel.start(place, (turn, n) => {
    const child = childOf(turn);
    if (child) return subagent(turn, child);
    if (n === 1) return startOf(place, twoLooks, 'Look at the parser');
    const line = turn.latestLine();
    if (line.kind === 'complete') return say('Summed up.');
    if (line.kind === 'blocked') {
      // The answer names the unfinished child, and what to send if its agent is gone.
      assert.deepEqual(line.blockers.map((blocker) => blocker.subject), ['deep']);
      const report = { ...line.blockers[0].example, reason: 'its agent ended with an error' };
      return deliver({ continueToken: line.retryContinueToken, output: { artifacts: [report] } });
    }
    if (line.pending.stepId === 'sum-up') {
      join = turn.result.text;
      return deliver({ continueToken: line.continueToken, ...notes('Wide is fine, deep is unknown.') });
    }
    if (turn.results.length === 2) return deliver({ continueToken: line.continueToken, ...notes('Both are back.') });
    assert.deepEqual(line.children.map(({ id, workflowId }) => [id, workflowId]),
      [['wide', lookWide.id], ['deep', lookDeep.id]]);
    return line.children.map(({ id, continueToken }) => call('Agent', {
      description: `Look ${id}`, subagent_type: 'general-purpose', run_in_background: false,
      prompt: `You look ${id}. Your token: ${continueToken}`,
    }));
  });
  const claude = await runClaude(place, model, 'Look at the parser.', { server: overStdio(place) });
  assert.equal(claude.last.result, 'Summed up.');
  assert.match(join, /deep is dead: its agent ended with an error/);
  assert.doesNotMatch(join, /wide is dead/);
  assert.match(join, /Wide is fine\./);
  const sessions = place.json('session', 'list', '--all').sessions;
  const statusOf = (workflow) => sessions.find((session) => session.workflowId === workflow.id)?.status;
  assert.deepEqual([twoLooks, lookWide, lookDeep].map(statusOf), ['complete', 'complete', 'stopped']);
});
