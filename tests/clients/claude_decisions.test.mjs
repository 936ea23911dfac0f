// Claude Code and people who do not answer immediately: cancelled in the dialog, answered elsewhere, and a server that
// restarts before the answer.
import assert from 'node:assert/strict';

import { ScriptedModel, say } from './anthropic.mjs';
import { ClaudeCode, choose, deliver, overHttp, overStdio, runClaude, startOf } from './claude.mjs';
import { scenario } from './support.mjs';
import { install, nextDelivery, notes, release } from './workflows.mjs';

const deliveries = () => ({
  look: [{ ...notes('Two changes.'), context: { changes: ['a', 'b'] } }],
  release: [notes('Released.')],
  announce: [notes('Announced it.')],
});

scenario('cancelled in the dialog, answered in the inbox, delivered with the next prompt', async (place) => {
  install(place, release);
  place.signalbox('hook', 'install', '--project');
  const left = deliveries();
  let brought;
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return startOf(place, release, 'Release it');
    const line = turn.latestLine();
    if (turn.line?.kind === 'awaiting_decision') return say('A person must decide first.');
    if (line.kind === 'awaiting_decision') {
      brought = turn.said;
      return deliver({ continueToken: line.continueToken });
    }
    const next = nextDelivery(line, left);
    return next ? deliver(next) : say('Released.');
  });
  const claude = new ClaudeCode(place, model, { server: overStdio(place), elicit: () => ({ action: 'cancel' }) });
  assert.equal((await claude.ask('Release it.')).result, 'A person must decide first.');
  const [open] = place.json('inbox', 'list').decisions;
  assert.equal(open.state, 'open');
  place.signalbox('inbox', 'answer', open.decision, 'staging');
  assert.equal((await claude.ask('Any news?')).result, 'Released.');
  assert.equal(await claude.quit(), 0);
  assert.match(brought, /staging/i);
  assert.equal(claude.elicitations.length, 1);
  assert.equal(place.session().session.status, 'complete');
  assert.match(place.session().session.recap, /Announced it/);
});

scenario('the server restarts before the dialog is answered', async (place) => {
  install(place, release);
  const left = deliveries();
  const server = await place.serve();
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return startOf(place, release, 'Release it');
    const next = nextDelivery(turn.latestLine(), left);
    return next ? deliver(next) : say('Released.');
  });
  const elicit = async (request) => {
    await server.restart();
    return { action: 'accept', content: choose(request.requested_schema, 'Production') };
  };
  const claude = await runClaude(place, model, 'Release it.', { server: overHttp(place, server), elicit });
  assert.equal(claude.last.result, 'Released.');
  const [decision] = place.json('inbox', 'list', '--all').decisions;
  assert.deepEqual(decision.options, ['production']);
});
