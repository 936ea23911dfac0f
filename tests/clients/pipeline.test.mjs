// A whole run, from a ticket to a merged change, whose phases are run by the real Claude Code and the real Codex over
// MCP, offline, with scripted models behind the proxy. Uses the project and script of `signalbox demo`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { clients, scenario, signalbox } from './support.mjs';

const realKey = 'sk-real-key-0123456789abcdef';

// The demo's project before its run, with its own remote and home.
function prepare(place, config) {
  const demo = path.join(place.dir, 'demo');
  const git = (...args) => place.run('git', args).trim();
  place.run(signalbox, ['demo', '--dir', demo]);
  const first = git('-C', path.join(demo, 'repo'), 'rev-list', '--max-parents=0', 'main');
  const remote = path.join(place.dir, 'remote.git');
  git('init', '-q', '--bare', '--initial-branch=main', remote);
  git('-C', path.join(demo, 'repo'), 'push', '-q', remote, `${first}:refs/heads/main`);
  fs.rmSync(place.workspace, { recursive: true });
  fs.mkdirSync(place.workspace);
  git('clone', '-q', remote, place.workspace);
  const home = place.env.SIGNALBOX_HOME;
  fs.mkdirSync(home, { recursive: true });
  const usage = { input_tokens: 1000, output_tokens: 50 };
  const lines = fs.readFileSync(path.join(demo, 'home/replies.jsonl'), 'utf8').trim().split('\n');
  const billed = lines.map((line) => `${JSON.stringify({ ...JSON.parse(line), usage })}\n`);
  fs.writeFileSync(path.join(home, 'replies.jsonl'), billed.join(''));
  fs.writeFileSync(path.join(home, 'config.yaml'), config);
  place.env.PATH = `${path.dirname(clients.claude)}:${path.dirname(clients.codex)}:${place.env.PATH}`;
  place.env.REAL_KEY = realKey;
  return { remote, git };
}

const models = `
models:
  script: {provider: scripted, script: replies.jsonl}
  claude: {provider: command, recipe: claude-code, upstream: script}
  codex: {provider: command, recipe: codex, upstream: script}
`;

const ticket = ['run', 'Greet people who give no name', '--ticket', 'tickets/1-no-name.md'];

// Runs, answers every question with its first option, and resumes until the run ends.
function drive(place, args) {
  let said = place.finish(signalbox, args);
  for (let round = 0; round < 5; round += 1) {
    const open = /Run (r-\w+) is not finished: a person must answer (d-\w+)/.exec(said);
    if (!open) return said;
    place.signalbox('inbox', 'answer', open[2], '1');
    place.log('transcript.txt', said);
    said = place.finish(signalbox, ['runs', 'resume', open[1]]);
  }
  return said;
}

// Everything stored of the run: events and blobs are in one store.
function keptBytes(place) {
  const home = place.env.SIGNALBOX_HOME;
  return fs.readdirSync(home, { recursive: true })
    .map((name) => path.join(home, name))
    .filter((file) => fs.statSync(file).isFile())
    .map((file) => fs.readFileSync(file, 'latin1'))
    .join('\n');
}

scenario('Claude Code and Codex turn a ticket into a merged change', async (place) => {
  const { remote, git } = prepare(place, `${models}
roles: {default: claude, reviewer: codex}
checks: [./check]
`);
  const said = drive(place, ticket);
  place.log('transcript.txt', said);
  assert.match(said, /^\S+\s+merged /m, said);

  const run = place.json('runs', 'show', 'last');
  assert.equal(run.outcome, 'merged');
  const kept = keptBytes(place);
  assert.ok(kept.includes('"model":"command/claude"'), 'Claude Code ran phases');
  assert.ok(kept.includes('"model":"command/codex"'), 'Codex ran a phase');
  assert.ok(run.phases.every((phase) => phase.usage.input > 0 && phase.usage.output > 0), 'the proxy counted tokens');

  git('--git-dir', remote, 'merge-base', '--is-ancestor', run.commit, 'main');
  const requests = git('--git-dir', remote, 'for-each-ref', '--format=%(refname)', 'refs/signalbox/requests');
  assert.equal(requests.split('\n').length, 1, 'there is one request');
  git('clone', '-q', remote, path.join(place.dir, 'merged'));
  place.run('sh', ['-c', 'cd "$1" && ./check', 'sh', path.join(place.dir, 'merged')]);

  assert.ok(!kept.includes(realKey), 'the real key is not stored');
  assert.deepEqual(fs.readdirSync(place.dir).filter((name) => name.startsWith('signalbox-agent-')), []);
});

scenario('a restricted role is rejected if its requests to the model are not visible', async (place) => {
  const { git } = prepare(place, `
models:
  claude: {provider: command, recipe: claude-code}
roles: {default: claude}
phases: {discovery: acme.doubt}
`);
  place.write('.signalbox/workflows/acme.doubt.json', {
    id: 'acme.doubt', name: 'Doubt', description: 'Doubts.', version: '1.0.0', role: 'challenger',
    steps: [{ id: 'doubt', title: 'Doubt', prompt: 'Doubt it.' }],
  });
  git('add', '--all');
  git('-c', 'user.name=Tester', '-c', 'user.email=tester@localhost', 'commit', '-q', '-m', 'Doubt');
  git('push', '-q');
  const said = place.finish(signalbox, ticket);
  assert.match(said, /isolation cannot be proven/);
  assert.match(said, /Give claude an `upstream`/);
});

// A discovery whose first step may change nothing, run by that program.
function prepareLook(place, program, second) {
  const { git } = prepare(place, `${models}
roles: {default: ${program}}
phases: {discovery: acme.look}
`);
  place.write('.signalbox/workflows/acme.look.json', {
    id: 'acme.look', name: 'Look', description: 'Looks.', version: '1.0.0',
    steps: [
      { id: 'look', title: 'Look', prompt: 'Look and change nothing.', writes: 'none', commands: 'read-only' },
      { id: 'note', title: 'Note', prompt: 'Write down what you saw.', ...second },
    ],
  });
  git('add', '--all');
  git('-c', 'user.name=Tester', '-c', 'user.email=tester@localhost', 'commit', '-q', '-m', 'Look');
  git('push', '-q');
}

function isPlanted(place) {
  const trees = path.join(place.env.SIGNALBOX_HOME, 'work-trees');
  return fs.readdirSync(trees).some((tree) => fs.existsSync(path.join(trees, tree, 'planted.txt')));
}

scenario('tools of Claude Code are denied what the open step does not allow', async (place) => {
  prepareLook(place, 'claude', {});
  const call = (name, input) => ({ when: { workflow: 'acme.look' }, content: [{ type: 'tool_use', name, input }] });
  const lines = [
    call('Write', { file_path: 'planted.txt', content: 'x' }),
    call('Bash', { command: 'touch planted.txt' }),
    call('complete_step', { notes: 'Nothing was to be changed here, and nothing was.' }),
  ];
  const script = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  fs.writeFileSync(path.join(place.env.SIGNALBOX_HOME, 'replies.jsonl'), script);
  place.log('transcript.txt', place.finish(signalbox, ticket));
  const kept = keptBytes(place);
  for (const tool of ['Write', 'Bash']) assert.ok(kept.includes(`"what":"${tool}","why":`), `${tool} was refused`);
  assert.ok(!isPlanted(place));
});

// The hook refuses the command it knows, the sandbox the one that it does not.
scenario('Codex writes nothing in a step that may change nothing, and its work is logged', async (place) => {
  prepareLook(place, 'codex', { writes: ['.signalbox/notes.md'] });
  const call = (name, input) => ({ when: { workflow: 'acme.look' }, content: [{ type: 'tool_use', name, input }] });
  const lines = [
    call('Bash', { command: 'touch planted.txt' }),
    call('Bash', { command: 'git log --oneline; git status --short' }),
    call('complete_step', { notes: 'Nothing was to be changed here, and nothing was.' }),
    call('Bash', { command: "python3 -c 'open(\"planted.txt\", \"w\")'; echo seen > .signalbox/notes.md" }),
    call('Bash', { command: 'cat .signalbox/notes.md' }),
    call('complete_step', { notes: 'Wrote the notes, and nothing but the notes.' }),
  ];
  const script = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  fs.writeFileSync(path.join(place.env.SIGNALBOX_HOME, 'replies.jsonl'), script);
  place.log('transcript.txt', place.finish(signalbox, ticket));
  const kept = keptBytes(place);
  assert.ok(kept.includes('"what":"Bash","why":'), 'the command was refused');
  assert.ok(!isPlanted(place));
  const session = /"session":"(s-\w+)"/.exec(place.run(signalbox, ['runs', 'export', 'last']))[1];
  const log = place.run(signalbox, ['session', 'log', session, '--full']);
  place.log('log.txt', log);
  assert.match(log, /exec_command touch planted\.txt\n.*blocked by PreToolUse hook/);
  assert.match(log, /exec_command git log --oneline; git status --short\n[^]*?\b[0-9a-f]{7,} Look/);
  assert.match(log, /exec_command cat \.signalbox\/notes\.md\n[^]*?seen/);
});
