// Claude Code with our hooks: the open step decides what may be changed.
import assert from 'node:assert/strict';

import { ScriptedModel, call, say } from './anthropic.mjs';
import { deliver, overHttp, overStdio, runClaude, startOf } from './claude.mjs';
import { scenario } from './support.mjs';
import { change, install, notes } from './workflows.mjs';

const edit = (place, file) => call('Edit', {
  file_path: `${place.workspace}/${file}`, old_string: 'old', new_string: 'new',
});
const bash = (command) => call('Bash', { command, description: 'a command' });

scenario('no writes while planning, in-scope writes while building, never out of scope', async (place) => {
  install(place, change);
  for (const file of ['src/main.txt', 'src/legacy/a.txt', 'docs/a.txt']) place.write(file, 'old\n');
  place.signalbox('hook', 'install', '--project');
  const read = (file) => call('Read', { file_path: `${place.workspace}/${file}` });
  const attempts = () => [
    edit(place, 'src/main.txt'),
    edit(place, 'src/legacy/a.txt'),
    edit(place, 'docs/a.txt'),
    call('Write', { file_path: `${place.workspace}/src/new.txt`, content: 'new\n' }),
    bash('echo new >> src/legacy/a.txt'),
    bash('cat src/main.txt'),
  ];
  // Each is one turn; `went` collects the results.
  const went = { plan: [], build: [] };
  const planned = attempts();
  const built = attempts();
  let step;
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return [read('src/main.txt'), read('src/legacy/a.txt'), read('docs/a.txt')];
    if (n === 2) return startOf(place, change, 'Change it');
    if (turn.line) step = turn.line.pending?.stepId;
    else went[step].push(turn.result);
    const line = turn.latestLine();
    if (line.kind === 'complete') return say('Changed.');
    const left = { plan: planned, build: built }[step] ?? [];
    if (left.length > 0) return left.shift();
    const context = step === 'shape' ? { context: { outOfScope: ['src/legacy/**'] } } : {};
    return deliver({ continueToken: line.continueToken, ...notes('Done.'), ...context });
  });
  const claude = await runClaude(place, model, 'Change it.', { server: overStdio(place) });
  assert.equal(claude.last.result, 'Changed.');

  const refused = (results) => results.map((result) => result.isError);
  assert.deepEqual(refused(went.plan), [true, true, true, true, true, false], JSON.stringify(went.plan, null, 1));
  assert.deepEqual(refused(went.build), [false, true, true, false, true, false], JSON.stringify(went.build, null, 1));
  assert.match(went.plan[0].text, /plan/i);
  assert.match(went.plan[1].text, /scope/);
  assert.match(went.build[1].text, /scope/);
  assert.equal(place.read('src/main.txt'), 'new\n');
  assert.equal(place.read('src/new.txt'), 'new\n');
  assert.equal(place.read('src/legacy/a.txt'), 'old\n');
  assert.equal(place.read('docs/a.txt'), 'old\n');
  assert.equal(place.session().session.status, 'complete');
  // There was no permission dialog for what the step forbids.
  const asked = claude.permissions.filter((request) => ['Edit', 'Write', 'Bash'].includes(request.tool_name));
  assert.deepEqual(asked.map((request) => [request.tool_name, request.input.file_path]), [
    ['Edit', `${place.workspace}/src/main.txt`],
    ['Write', `${place.workspace}/src/new.txt`],
  ]);
});

scenario('hooks over HTTP deny like the program', async (place) => {
  install(place, change);
  place.write('src/main.txt', 'old\n');
  const token = place.signalbox('serve', 'token', 'ada').trim();
  const server = await place.serve();
  const hook = {
    type: 'http', url: server.url.replace(/mcp$/, 'hook'), timeout: 10,
    headers: { Authorization: 'Bearer $SIGNALBOX_TOKEN' }, allowedEnvVars: ['SIGNALBOX_TOKEN'],
  };
  place.write('.claude/settings.json', { hooks: { PreToolUse: [{ matcher: '*', hooks: [hook] }] } });
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return startOf(place, change, 'Change it');
    if (n === 2) return call('Read', { file_path: `${place.workspace}/src/main.txt` });
    return n === 3 ? edit(place, 'src/main.txt') : say('Refused.');
  });
  const options = { server: overHttp(place, server), env: { SIGNALBOX_TOKEN: token } };
  const claude = await runClaude(place, model, 'Change it.', options);
  const edited = claude.toolResults().find((result) => result.name === 'Edit');
  assert.ok(edited.isError);
  assert.match(edited.text, /"Shape" \(shape\)/);
  assert.equal(place.read('src/main.txt'), 'old\n');
});
