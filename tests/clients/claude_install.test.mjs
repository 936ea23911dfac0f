// Claude Code finds the server where `signalbox mcp install` puts it, and no longer when it is taken out.
import assert from 'node:assert/strict';

import { ScriptedModel, call, say } from './anthropic.mjs';
import { installed, runClaude, tool } from './claude.mjs';
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

scenario('installed for the user, and taken out again', async (place) => {
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
