// Claude Code runs a workflow to its end: a blocked step, a decision answered in its dialog, the server killed midway.
import assert from 'node:assert/strict';

import { ScriptedModel, say } from './anthropic.mjs';
import { ClaudeCode, choose, deliver, overHttp, overStdio, startOf } from './claude.mjs';
import { answerLine, descendants, scenario, until } from './support.mjs';
import { forgetfulRelease, install, nextDelivery, release } from './workflows.mjs';

// `beforeAnnouncing` runs when the last step is open and not delivered yet.
async function drive(place, server, beforeAnnouncing) {
  install(place, release);
  const deliveries = forgetfulRelease();
  let claude;
  const model = await ScriptedModel.start(place, async (turn, n) => {
    if (n === 1) return startOf(place, release, 'Release it');
    const line = turn.latestLine();
    if (line.pending?.stepId === 'announce') await beforeAnnouncing(claude);
    const next = nextDelivery(line, deliveries);
    return next ? deliver(next) : say('Released.');
  });
  const elicit = (request) => ({ action: 'accept', content: choose(request.requested_schema, 'Production') });
  claude = new ClaudeCode(place, model, { server, elicit });
  const result = await claude.ask('Release it.');
  assert.equal(result.result, 'Released.');
  assert.equal(await claude.quit(), 0);
  check(place, claude);
}

function check(place, claude) {
  const kinds = claude.toolResults().map((result) => answerLine([result.text])?.kind);
  assert.deepEqual(kinds, ['ok', 'blocked', 'ok', 'ok', 'complete']);
  assert.equal(claude.elicitations.length, 1);
  assert.match(claude.elicitations[0].message, /Which environment should get it\?/);
  const { session } = place.session();
  assert.equal(session.status, 'complete');
  const [decision, ...others] = place.json('inbox', 'list', '--all').decisions;
  assert.deepEqual(others, []);
  assert.equal(decision.session, session.id);
  assert.deepEqual(decision.options, ['production']);
  assert.equal(decision.resolved_by, 'human');
  assert.match(decision.channel, /elicitation/);
}

scenario('over HTTP, with the server killed and restarted midway', async (place) => {
  const server = await place.serve();
  await drive(place, overHttp(place, server), () => server.restart());
});

scenario('over stdio, with the server killed midway', async (place) => {
  await drive(place, overStdio(place), async (claude) => {
    const [server] = descendants(claude.process.pid, 'signalbox mcp');
    assert.ok(server, 'Claude Code runs the server');
    process.kill(server, 'SIGKILL');
    await until(() => !descendants(claude.process.pid, '').includes(server), 'the server is gone');
  });
});
