// The rules for asking people reach the model: through the client's rules file, and through the server's
// instructions and the description of `ask`.
import assert from 'node:assert/strict';
import path from 'node:path';

import { ScriptedModel, say } from './anthropic.mjs';
import { installed, runClaude } from './claude.mjs';
import { ScriptedResponses } from './openai.mjs';
import { clients, scenario, signalbox } from './support.mjs';

const section = 'Asking people (Signalbox)';

scenario('Claude Code sends the installed rules and the instructions to its model', async (place) => {
  const sent = async () => {
    const model = await ScriptedModel.start(place, () => say('Done.'));
    await runClaude(place, model, 'What is there?', { server: installed });
    return model.turns.map(({ turn }) => JSON.stringify(turn.body)).join('\n');
  };
  place.signalbox('mcp', 'install', '--client', 'claude-code');
  const before = await sent();
  assert.ok(!before.includes(section), 'not before they are installed');
  assert.ok(before.includes('Where a person must choose, approve, confirm or clarify'), 'the instructions');
  place.signalbox('rules', 'install', '--client', 'claude-code');
  const after = await sent();
  assert.ok(after.includes(section), 'the section');
  assert.ok(after.includes('No answer is not consent'));
  place.signalbox('rules', 'uninstall', '--client', 'claude-code');
  assert.ok(!(await sent()).includes(section), 'not after they are removed');
});

scenario('Codex sends the rules of AGENTS.md to its model', async (place) => {
  const codexHome = path.join(place.home, '.codex');
  const sent = async () => {
    const bodies = [];
    const model = await ScriptedResponses.start(place, (turn) => {
      bodies.push(JSON.stringify(turn.body ?? turn));
      return { text: 'Done.' };
    });
    place.write(path.join(codexHome, 'config.toml'), `
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "${model.url}"
wire_api = "responses"
[mcp_servers.signalbox]
command = "${signalbox}"
args = ["mcp"]
env = { SIGNALBOX_HOME = "${place.env.SIGNALBOX_HOME}" }
`);
    const run = place.start(clients.codex, ['exec', '--json', '--skip-git-repo-check', 'What is there?'], {
      name: 'codex', env: { CODEX_HOME: codexHome },
    });
    run.closeInput();
    assert.equal(await run.end(), 0);
    return bodies.join('\n');
  };
  assert.ok(!(await sent()).includes(section), 'not before they are installed');
  place.signalbox('rules', 'install', '--client', 'codex');
  assert.ok((await sent()).includes(section), 'the section');
});
