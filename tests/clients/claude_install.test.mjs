// Claude Code finds the server after `signalbox mcp install`, and not after uninstall.
import assert from 'node:assert/strict';

import { ScriptedModel, call, say } from './anthropic.mjs';
import { ClaudeCode, installed, runClaude, tool } from './claude.mjs';
import { scenario } from './support.mjs';
import { install, release } from './workflows.mjs';

async function servers(place) {
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1 && place.isInstalled) return call(tool('list_workflows'), { workspacePath: place.workspace });
    return say('Done.');
  });
  const claude = await runClaude(place, model, 'What is there?', { server: installed });
  return { claude, known: claude.facts().mcp_servers };
}

scenario('installed for the user and uninstalled', async (place) => {
  install(place, release);
  place.signalbox('mcp', 'install', '--client', 'claude-code');
  place.isInstalled = true;
  const { claude, known } = await servers(place);
  assert.deepEqual(known.map((server) => server.name), ['signalbox']);
  assert.match(claude.toolResults()[0].text, /acme\.release/);
  place.signalbox('mcp', 'uninstall', '--client', 'claude-code');
  place.isInstalled = false;
  assert.deepEqual((await servers(place)).known, []);
});

scenario('installed for a server, with the token it needs', async (place) => {
  install(place, release);
  const server = await place.serve();
  place.signalbox('mcp', 'install', '--client', 'claude-code', '--port', String(server.port));
  place.isInstalled = true;
  const { claude, known } = await servers(place);
  assert.deepEqual(known.map(({ name, status }) => [name, status]), [['signalbox', 'connected']]);
  assert.match(claude.toolResults()[0].text, /acme\.release/);
});

scenario('workflows appear as commands of the client', async (place) => {
  install(place, release);
  place.signalbox('mcp', 'install', '--client', 'claude-code');
  const model = await ScriptedModel.start(place, () => say('Understood.'));
  const claude = new ClaudeCode(place, model, { server: installed });
  await claude.ask('What is there?');
  const command = `/mcp__signalbox__${release.id}`;
  assert.equal((await claude.ask(`${command} Release version 3`)).result, 'Understood.');
  assert.equal(await claude.quit(), 0);
  // Claude Code passes the first word as the goal, and shows the model the whole line.
  const { said } = model.turns.at(-1).turn;
  assert.match(said, /Call start_workflow with workflowId "acme\.release"/);
  assert.match(said, /Goal: Release\nIf the person wrote more than this/);
  assert.match(said, /Release version 3/);
});
