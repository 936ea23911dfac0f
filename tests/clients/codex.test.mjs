// Codex with a scripted model: `codex exec` over stdio, which declines every dialog, and `codex app-server` over HTTP,
// whose application answers it.
import assert from 'node:assert/strict';
import path from 'node:path';

import { ScriptedResponses } from './openai.mjs';
import { clients, scenario, signalbox } from './support.mjs';
import { install, release } from './workflows.mjs';

// An agent that delivers too little once, fixes it and continues to the end; it stops where a person must decide.
function agent(place, { onBlocked = async () => {} } = {}) {
  const seen = [];
  const script = async ({ line, latest, result }) => {
    if (result && !line) throw new Error(`unexpected tool result: ${result.join('\n')}`);
    if (line) seen.push(line);
    const deliver = (continueToken, context) => ({
      call: 'continue_workflow',
      arguments: { continueToken, output: { notesMarkdown: 'Done as instructed.' }, ...(context ? { context } : {}) },
    });
    if (!latest) {
      return {
        call: 'start_workflow',
        arguments: { workflowId: release.id, workspacePath: place.workspace, goal: 'Release what is ready' },
      };
    }
    if (!line) return { call: 'continue_workflow', arguments: { continueToken: latest.continueToken } };
    if (line.kind === 'complete') return { text: 'The workflow is complete.' };
    if (line.kind === 'awaiting_decision') return { text: `A person must decide ${line.decision.id}.` };
    if (line.kind === 'blocked') {
      await onBlocked();
      return deliver(line.retryContinueToken, { changes: ['the parser'] });
    }
    return deliver(line.continueToken);
  };
  return { seen, script };
}

// The members of an inline table.
const toml = (texts) => Object.entries(texts).map(([name, text]) => `${name} = ${JSON.stringify(text)}`).join(', ');

// With approvals `never` Codex declines dialogs without showing them.
function configure(place, model, approvals, server) {
  const codexHome = path.join(place.home, '.codex');
  place.write(path.join(codexHome, 'config.toml'), `
model = "scripted"
model_provider = "scripted"
approval_policy = "${approvals}"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "${model.url}"
wire_api = "responses"
[mcp_servers.signalbox]
${server}
`);
  return { CODEX_HOME: codexHome };
}

scenario('exec over stdio declines the dialog; the inbox answers; a second run continues', async (place) => {
  install(place, release);
  const { seen, script } = agent(place);
  const model = await ScriptedResponses.start(place, script);
  const env = configure(place, model, 'never', `command = "${signalbox}"\nargs = ["mcp"]
env = { SIGNALBOX_HOME = "${place.env.SIGNALBOX_HOME}", ${toml(place.entry().env)} }`);
  const exec = async (...args) => {
    const run = place.start(clients.codex, ['exec', ...args], { name: 'codex', env });
    run.closeInput();
    assert.equal(await run.end(), 0);
    return run.lines.join('\n');
  };
  await exec('--json', '--skip-git-repo-check', 'Release what is ready');
  assert.deepEqual(seen.map((line) => line.kind), ['ok', 'blocked', 'awaiting_decision']);
  const { decision } = seen.at(-1);
  assert.deepEqual(decision.options.map((option) => option.id), ['staging', 'production']);

  place.signalbox('inbox', 'answer', decision.id, 'production');
  const said = await exec('resume', '--last', '--json', '--skip-git-repo-check', 'The person has answered. Continue.');
  assert.match(said, /The workflow is complete/);
  const session = place.session(seen.at(-1).sessionId);
  assert.equal(session.session.status, 'complete');
});

// One turn of `codex app-server`, whose application answers every form.
async function runApp(place, env, text, fill) {
  const app = place.start(clients.codex, ['app-server'], { name: 'codex', env });
  let id = 0;
  let next = 0;
  // Sends a request and returns its result; answers requests that arrive meanwhile.
  const request = async (method, params, done) => {
    id += 1;
    const mine = id;
    app.send({ id: mine, method, params });
    for (;;) {
      const message = await app.line((line) => JSON.parse(line), `an answer to ${method}`, { from: next });
      next += 1;
      if (message.id === mine && !message.method) {
        assert.ok(!message.error, JSON.stringify(message.error));
        if (!done) return message.result;
      } else if (message.method && message.id !== undefined) {
        assert.equal(message.method, 'mcpServer/elicitation/request', JSON.stringify(message.params));
        app.send({ id: message.id, result: fill(message.params) });
      } else if (done?.(message)) {
        return message.params;
      }
    }
  };
  await request('initialize', { clientInfo: { name: 'test', version: '1.0.0', title: null } });
  app.send({ method: 'initialized' });
  const { thread } = await request('thread/start', { cwd: place.workspace });
  const turn = { threadId: thread.id, input: [{ type: 'text', text, text_elements: [] }] };
  await request('turn/start', turn, ({ method }) => method === 'turn/completed');
}

scenario('app-server over HTTP answers the dialog; the server is killed midway', async (place) => {
  install(place, release);
  const server = await place.serve();
  const { seen, script } = agent(place, { onBlocked: () => server.restart() });
  const model = await ScriptedResponses.start(place, script);
  const env = configure(place, model, 'on-request', `url = "${server.url}"
http_headers = { ${toml(place.entry(server).headers)} }`);
  const dialogs = [];
  await runApp(place, env, 'Release what is ready', (params) => {
    dialogs.push(params);
    const [key] = Object.keys(params.requestedSchema.properties);
    return { action: 'accept', content: { [key]: 'staging' } };
  });

  assert.equal(dialogs.length, 1, 'one dialog was shown');
  assert.match(dialogs[0].message, /environment/);
  assert.deepEqual(seen.map((line) => line.kind), ['ok', 'blocked', 'ok', 'ok', 'complete']);
  assert.equal(place.session(seen.at(-1).sessionId).session.status, 'complete');
  assert.equal(await server.stop(), 0);
});

scenario('app-server walks a chain of five and a flow in its forms, with an installed timeout', async (place) => {
  const bots = {
    chain: 'bots', skill: 'roadmap', number: 3, relation: 'independent',
    options: [1, 2, 3, 4, 5].map((n) => ({
      key: `E${n}`, label: `Bot ${n}`, eli10: 'It answers.',
      recommend: { choice: 'include', reason: 'often asked for' },
    })),
  };
  const flow = {
    flow: 'release',
    steps: [
      { key: 'branch', instruction: 'Which branch?', options: ['main', 'hotfix'] },
      { key: 'env', instruction: 'Which environments?', select: 'many', options: ['staging', 'production', 'canary'] },
    ],
  };
  for (const [declaration, answers, values] of [
    [bots, ['include', 'defer', 'include', 'include', 'cut', 'revise', 'E2', 'cut', 'ship'],
      { E1: 'include', E2: 'cut', E3: 'include', E4: 'include', E5: 'cut' }],
    [flow, ['main', ['staging', 'canary'], 'edit-specific-step', 'branch', 'hotfix', 'confirm'],
      { branch: 'hotfix', env: ['staging', 'canary'] }],
  ]) {
    const model = await ScriptedResponses.start(place, async ({ result }) =>
      (result ? { text: 'Done.' } : { call: 'ask', arguments: { declaration } }));
    const env = configure(place, model, 'on-request', `command = "${signalbox}"
args = ["mcp", "--hold", "24h"]
tool_timeout_sec = 86400
env = { SIGNALBOX_HOME = "${place.env.SIGNALBOX_HOME}", ${toml(place.entry().env)} }`);
    await runApp(place, env, 'Ask me', ({ message, requestedSchema }) => {
      const properties = Object.keys(requestedSchema.properties);
      const answer = answers.shift();
      assert.ok(answer, message);
      if (!Array.isArray(answer)) return { action: 'accept', content: { [properties[0]]: answer } };
      // Codex shows checkboxes, sorted by name.
      assert.deepEqual(properties, [...properties].sort());
      assert.ok(properties.every((name) => requestedSchema.properties[name].default === false));
      const content = Object.fromEntries(properties.map((name) => [name, answer.includes(name.split(':').at(-1))]));
      return { action: 'accept', content };
    });
    assert.deepEqual(answers, []);
    const name = declaration.flow ?? declaration.chain;
    const closed = place.json('inbox', 'list', '--all').decisions.find((each) => each.asked === name);
    assert.deepEqual(closed.values, values);
  }
});
