// The Inspector's command line: the server's lists under strict checks, in each era; calls under load; and a workflow
// run by hand through its persistent connection, with a dialog.
import assert from 'node:assert/strict';

import { answerLine, clients, scenario, signalbox } from './support.mjs';
import { install, release } from './workflows.mjs';

const inspect = (place, args) =>
  place.run(process.execPath, [clients.inspector, '--cli', ...args, '--', signalbox, 'mcp']);

for (const era of ['legacy', 'auto', 'modern']) {
  scenario(`the lists, ${era}; the tools under the strict checks`, async (place) => {
    const list = (method, ...more) =>
      JSON.parse(inspect(place, ['--method', method, '--format', 'json', '--protocol-era', era, ...more])).result;
    const { tools } = list('tools/list', '--strict');
    assert.ok(tools.some((tool) => tool.name === 'start_workflow'), JSON.stringify(tools));
    assert.ok(list('resources/list').resources.length > 0);
    assert.ok(list('resources/templates/list').resourceTemplates.length > 0);
    assert.ok(list('prompts/list').prompts.length > 0);
  });
}

scenario('500 calls, 8 in parallel', async (place) => {
  const args = JSON.stringify({ workspacePath: place.workspace });
  const said = inspect(place, [
    '--method', 'tools/call', '--tool-name', 'list_workflows', '--tool-args-json', args,
    '--load', '--load-requests', '500', '--load-concurrency', '8', '--format', 'json', '-q',
  ]);
  console.error(`inspector: ${said.trim().slice(0, 600)}`);
  assert.doesNotMatch(said, /"(failed|errors)":\s*[1-9]/);
});

scenario('a workflow by hand, with a dialog and a restart of the server', async (place) => {
  install(place, release);
  const env = { MCP_INSPECTOR_SECRET_STORE: 'file' };
  const mcpdo = (...args) =>
    JSON.parse(place.run(process.execPath, [clients.mcpdo, '--format', 'json', ...args], { env }));
  const variables = { SIGNALBOX_HOME: place.env.SIGNALBOX_HOME, ...place.entry().env };
  const given = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const connect = () => mcpdo('--connection', 'sb', 'connect', ...given, signalbox, 'mcp');
  connect();
  try {
    const call = (tool, args) => mcpdo('@sb', 'tools/call', tool, JSON.stringify(args));
    const line = (result) => answerLine((result.result ?? result).content.map((block) => block.text));
    const started = line(call('start_workflow', {
      workflowId: release.id, workspacePath: place.workspace, goal: 'Release what is ready',
    }));
    const blocked = line(call('continue_workflow', {
      continueToken: started.continueToken, output: { notesMarkdown: 'Looked.' },
    }));
    assert.equal(blocked.kind, 'blocked');
    mcpdo('daemon', 'stop'); // and the server with it
    connect();
    const pending = call('continue_workflow', {
      continueToken: blocked.retryContinueToken,
      output: { notesMarkdown: 'One change.' }, context: { changes: ['the parser'] },
    });
    const { elicitationId, requestedSchema } = pending.elicitationPending;
    const key = Object.keys(requestedSchema.properties)[0];
    let now = line(mcpdo('@sb', 'elicitation/respond', elicitationId, `${key}:=staging`));
    assert.equal(now.pending.stepId, 'release');
    for (let step = 0; !now.isComplete && step < 4; step += 1) {
      now = line(call('continue_workflow', {
        continueToken: now.continueToken, output: { notesMarkdown: 'Done as instructed.' },
      }));
    }
    assert.equal(place.session(now.sessionId).session.status, 'complete');
  } finally {
    mcpdo('daemon', 'stop');
  }
});
