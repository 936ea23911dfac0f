// The official SDK clients of both release lines, over stdio and HTTP, in every era they support: each runs a workflow
// to its end, is blocked once, answers a decision in its own dialog, and survives a server crash.
import assert from 'node:assert/strict';

import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';

import { answerLine, scenario } from './support.mjs';
import { install, release } from './workflows.mjs';

const self = { name: 'sdk-test', version: '1.0.0' };
const capabilities = { elicitation: { form: {} } };

const v1 = {
  name: 'v1',
  make: (elicit) => {
    const client = new ClientV1(self, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, elicit);
    return client;
  },
  stdio: StdioV1,
  http: HttpV1,
};

const v2 = (name, mode) => ({
  name: `v2 ${name}`,
  make: (elicit) => {
    const client = new ClientV2(self, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', elicit);
    return client;
  },
  stdio: StdioV2,
  http: HttpV2,
});

const lines = [v1, v2('legacy', 'legacy'), v2('auto', 'auto'), v2('pinned to 2026-07-28', { pin: '2026-07-28' })];

// Answers with the option of that label, for any form.
function choose(id, seen) {
  return async ({ params }) => {
    seen.push(params);
    const [key, schema] = Object.entries(params.requestedSchema.properties)[0];
    const offered = schema.enum ?? schema.oneOf.map((option) => option.const);
    assert.ok(offered.includes(id), `the form offers ${JSON.stringify(schema)}`);
    return { action: 'accept', content: { [key]: id } };
  };
}

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  const texts = result.content.map((block) => block.text);
  assert.ok(!result.isError, texts.join('\n'));
  return { texts, line: answerLine(texts), structured: result.structuredContent };
}

// The whole workflow; `reconnect` returns the client that continues after the server was killed.
async function drive(place, client, reconnect) {
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === 'start_workflow'));
  const listed = await call(client, 'list_workflows', { workspacePath: place.workspace });
  assert.ok(listed.structured.workflows.some((workflow) => workflow.workflowId === release.id));

  const started = await call(client, 'start_workflow', {
    workflowId: release.id, workspacePath: place.workspace, goal: 'Release what is ready',
  });
  assert.equal(started.line.kind, 'ok');
  assert.equal(started.line.pending.stepId, 'look');
  const blocked = await call(client, 'continue_workflow', {
    continueToken: started.line.continueToken, output: { notesMarkdown: 'Looked.' },
  });
  assert.equal(blocked.line.kind, 'blocked');
  assert.match(blocked.texts[0], /changes/);

  const next = await reconnect(client);
  const decided = await call(next, 'continue_workflow', {
    continueToken: blocked.line.retryContinueToken ?? blocked.line.continueToken,
    output: { notesMarkdown: 'One change is ready.' },
    context: { changes: ['the parser'] },
  });
  assert.equal(decided.line.pending.stepId, 'release', decided.texts.join('\n'));
  assert.match(decided.texts[0], /Release to staging/);
  let { line } = decided;
  for (let step = 0; !line.isComplete && step < 4; step += 1) {
    ({ line } = await call(next, 'continue_workflow', {
      continueToken: line.continueToken, output: { notesMarkdown: 'Done as instructed.' },
    }));
  }
  assert.equal(line.kind, 'complete');
  assert.equal(place.session(line.sessionId).session.status, 'complete');
  await next.close();
}

for (const line of lines) {
  scenario(`${line.name} over stdio`, async (place) => {
    install(place, release);
    const seen = [];
    const connect = async () => {
      const client = line.make(choose('staging', seen));
      const { command, args, env } = place.entry();
      await client.connect(new line.stdio({ command, args, env: { ...place.env, ...env }, cwd: place.workspace }));
      return client;
    };
    await drive(place, await connect(), async (client) => {
      process.kill(client.transport.pid, 'SIGKILL');
      await client.close().catch(() => {});
      return connect();
    });
    assert.equal(seen.length, 1, 'one dialog was shown');
  });

  scenario(`${line.name} over HTTP`, async (place) => {
    install(place, release);
    const server = await place.serve();
    const seen = [];
    const client = line.make(choose('staging', seen));
    const { headers } = place.entry(server);
    await client.connect(new line.http(new URL(server.url), { requestInit: { headers } }));
    await drive(place, client, async () => {
      await server.restart();
      return client;
    });
    assert.equal(seen.length, 1, 'one dialog was shown');
    assert.equal(await server.stop(), 0);
  });
}
