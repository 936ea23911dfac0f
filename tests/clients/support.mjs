// Shared by the tests of third-party clients: a temporary folder per test, processes that end with the test, the
// server, and the sessions as the user sees them.
//
//   scenario('does something', async (place) => { ... })    one test in a fresh folder
//
// Every process a test starts has its own process group, which is killed when the test ends.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const modules = path.join(root, 'build/clients/node_modules');
const inspector = path.join(modules, '@modelcontextprotocol/inspector/clients');

export const programs = process.env.SIGNALBOX_TEST_PROGRAMS ?? path.join(root, 'build/release');
export const signalbox = path.join(programs, 'signalbox');

// The clients: programs, or scripts for `node` (process.execPath).
export const clients = {
  claude: path.join(modules, '@anthropic-ai/claude-code-linux-x64/claude'),
  codex: path.join(modules, '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex'),
  conformance: path.join(modules, '@modelcontextprotocol/conformance/dist/index.js'),
  inspector: path.join(inspector, 'launcher/build/index.js'),
  mcpdo: path.join(inspector, 'mcpdo/build/mcp-bin.js'),
};

const timeoutMs = 120_000;

// A client that a failed test left open must not block the whole run. Its server ends when our end of the pipe closes.
after(() => setTimeout(() => process.exit(), 2_000).unref());

// One test. `body` gets the Place; an exception fails the test and prints the ends of all logs. `skip` is false, or the
// reason why it cannot run here.
export function scenario(name, body, { timeout = 3 * timeoutMs, skip = false } = {}) {
  const file = path.basename(process.argv[1], '.test.mjs');
  test(`${file}: ${name}`, { skip }, async () => {
    const place = new Place(`${file} ${name}`);
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`timeout after ${timeout} ms`)), timeout);
    });
    try {
      await Promise.race([body(place), late]);
      for (const problem of place.problems) throw problem;
    } catch (error) {
      // Problems in the background are the likelier cause of what the test saw.
      const causes = place.problems.filter((problem) => problem !== error).map((problem) => `${problem.stack}\n`);
      error.stack = `${[...new Set(causes)].join('')}${error.stack}\n${place.keepLogs()}`;
      throw error;
    } finally {
      clearTimeout(timer);
      await place.close();
    }
  });
}

// A fresh folder with a home, a workspace (a git repository) and logs; independent of the user's own files.
export class Place {
  constructor(name) {
    this.name = name.replace(/[^A-Za-z0-9]+/g, '-');
    this.dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-client-')));
    this.home = path.join(this.dir, 'home');
    this.workspace = path.join(this.dir, 'workspace');
    this.logs = path.join(this.dir, 'logs');
    for (const folder of [this.home, this.workspace, this.logs]) fs.mkdirSync(folder);
    this.env = {
      PATH: `${programs}:${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: this.home,
      SIGNALBOX_HOME: path.join(this.home, '.signalbox'),
      LC_ALL: 'C.UTF-8',
      TMPDIR: this.dir,
    };
    this.running = [];
    this.closers = [];
    this.problems = [];
    process.once('exit', (this.atExit = () => this.killAll()));
    this.run('git', ['init', '-q', '-b', 'main', this.workspace]);
  }

  // Writes a file in the workspace (or anywhere, if the path is absolute) and returns its path.
  write(file, text) {
    const target = path.resolve(this.workspace, file);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, typeof text === 'string' ? text : JSON.stringify(text, null, 1));
    return target;
  }

  // The text of a file in the workspace, or undefined if there is none.
  read(file) {
    const target = path.resolve(this.workspace, file);
    return fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : undefined;
  }

  // Runs a program to its end in the workspace. Fails the test if its exit code is not `status`.
  run(program, args, { status = 0, input = '', env = {} } = {}) {
    const done = spawnSync(program, args, {
      cwd: this.workspace, env: { ...this.env, ...env }, input, encoding: 'utf8', timeout: timeoutMs,
    });
    const said = `${done.stdout ?? ''}${done.stderr ?? ''}${done.error ?? ''}`;
    assert.equal(done.status, status, `${[path.basename(program), ...args].join(' ')} exited ${done.status}:\n${said}`);
    return done.stdout;
  }

  // The same with any exit code; returns all output.
  finish(program, args) {
    const done = spawnSync(program, args, {
      cwd: this.workspace, env: this.env, encoding: 'utf8', timeout: 3 * timeoutMs, maxBuffer: 64 << 20,
    });
    assert.ifError(done.error);
    return `${done.stdout}${done.stderr}`;
  }

  signalbox(...args) {
    return this.run(signalbox, args);
  }

  json(...args) {
    return JSON.parse(this.signalbox(...args, '--json'));
  }

  // The output of `session show`; without an id, for the only session.
  session(id) {
    return this.json('session', 'show', id ?? this.onlySession());
  }

  onlySession() {
    const sessions = this.json('session', 'list', '--all').sessions;
    assert.equal(sessions.length, 1, `expected one session: ${JSON.stringify(sessions)}`);
    return sessions[0].sessionId;
  }

  // Starts a program in its own process group, with stdin open; stderr goes to a log.
  start(program, args, { env = {}, cwd = this.workspace, name = path.basename(program) } = {}) {
    const started = new Running(this, program, args, { cwd, env: { ...this.env, ...env } }, name);
    this.running.push(started);
    return started;
  }

  // `signalbox serve` on a free loopback port. stop() ends it, kill() simulates a crash, restart() kills it and starts
  // another one on the same port.
  async serve(args = []) {
    const port = await freePort();
    const server = {
      port,
      url: `http://127.0.0.1:${port}/mcp`,
      process: null,
      start: async () => {
        server.process = this.start(signalbox, ['serve', '--port', String(port), ...args], { name: 'serve' });
        await until(async () => {
          assert.equal(server.process.status, undefined, 'the server ended immediately');
          return canConnect(port);
        }, 'the server listens');
        return server;
      },
      stop: () => server.process.end('SIGTERM'),
      kill: () => server.process.end('SIGKILL'),
      restart: async () => {
        await server.kill();
        return server.start();
      },
    };
    return server.start();
  }

  // The entry of a client's configuration, with its secret, as `signalbox mcp install` gives it to one that it cannot
  // configure itself: for the program, or for a server of serve().
  entry(server) {
    const name = server ? `client-${server.port}` : 'client';
    const port = server ? ['--port', String(server.port)] : [];
    this.entries ??= new Map(); // installing again would revoke the secret
    if (!this.entries.has(name)) {
      const printed = this.signalbox('mcp', 'install', '--client', 'other', '--name', name, ...port);
      this.entries.set(name, JSON.parse(printed).mcpServers.signalbox);
    }
    return this.entries.get(name);
  }

  // Starts a forwarder that adds the server's token, for a client that cannot send one. Returns its port.
  async forwarder(server) {
    const script = path.join(path.dirname(fileURLToPath(import.meta.url)), 'forwarder.mjs');
    const env = { AUTHORIZATION: this.entry(server).headers.Authorization };
    const forwarder = this.start(process.execPath, [script, String(server.port)], { name: 'forwarder', env });
    return forwarder.line((line) => Number(line), 'the port of the forwarder');
  }

  // Appends to a log of the place.
  log(name, text) {
    fs.appendFileSync(path.join(this.logs, name), text);
  }

  // An error outside the test's own flow, such as in a scripted model; fails the test.
  problem(error) {
    this.problems.push(error);
  }

  keepLogs() {
    const kept = path.join(root, 'build/clients-log', this.name);
    fs.rmSync(kept, { recursive: true, force: true });
    fs.cpSync(this.logs, kept, { recursive: true });
    const isShown = (file) => file.endsWith('.stderr') || file === 'transcript.txt';
    const tails = fs.readdirSync(kept).filter(isShown).sort().map((file) => {
      const text = fs.readFileSync(path.join(kept, file), 'utf8');
      return text === '' ? '' : `--- the end of ${file}\n${tail(text)}\n`;
    });
    return `${tails.join('')}--- full logs: build/clients-log/${this.name}`;
  }

  killAll() {
    for (const started of this.running) started.kill('SIGKILL');
  }

  async close() {
    for (const close of this.closers) await close();
    this.killAll();
    await Promise.all(this.running.map((started) => started.exited));
    process.removeListener('exit', this.atExit);
    if (process.env.SIGNALBOX_TEST_KEEP) this.keepLogs();
    fs.rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

// A running program. Keeps the lines of its stdout, which can be awaited; lines can be sent to its stdin.
export class Running {
  constructor(place, program, args, options, name) {
    this.place = place;
    this.name = name;
    this.lines = [];
    this.waiters = new Set();
    this.status = undefined; // exit code or signal, after it ended
    const log = path.join(place.logs, `${name}.${place.running.length}`);
    const stderr = fs.openSync(`${log}.stderr`, 'a');
    this.child = spawn(program, args, { ...options, detached: true, stdio: ['pipe', 'pipe', stderr] });
    fs.closeSync(stderr);
    this.pid = this.child.pid;
    this.child.stdin.on('error', () => {}); // it may end while we write
    this.exited = once(this.child, 'close').then(
      ([code, signal]) => this.ended(code ?? signal),
      (error) => this.ended(String(error)),
    );
    let rest = '';
    this.child.stdout.setEncoding('utf8').on('data', (data) => {
      fs.appendFileSync(`${log}.stdout`, data);
      const lines = (rest + data).split('\n');
      rest = lines.pop();
      this.lines.push(...lines);
      this.wake();
    });
  }

  ended(status) {
    this.status = status;
    this.wake();
    return status;
  }

  wake() {
    for (const waiter of this.waiters) waiter();
  }

  send(message) {
    this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  closeInput() {
    this.child.stdin.end();
  }

  // The first truthy result of `wanted(line)`, starting at line `from`.
  async line(wanted, what, { from = 0, timeout = timeoutMs } = {}) {
    let next = from;
    return this.until(() => {
      while (next < this.lines.length) {
        const found = wanted(this.lines[next], next);
        next += 1;
        if (found) return found;
      }
      assert.equal(this.status, undefined, `${this.name} ended (${this.status}) before ${what}`);
      return undefined;
    }, what, timeout);
  }

  async until(condition, what, timeout = timeoutMs) {
    return new Promise((resolve, reject) => {
      const settle = (act, value) => {
        this.waiters.delete(look);
        clearTimeout(timer);
        act(value);
      };
      const look = () => {
        try {
          const found = condition();
          if (found) settle(resolve, found);
        } catch (error) {
          settle(reject, error);
        }
      };
      const timer = setTimeout(() => settle(reject, new Error(`waited ${timeout} ms for ${what}`)), timeout);
      this.waiters.add(look);
      look();
    });
  }

  // Waits for its end; returns the exit code or the signal's name.
  async end(signal, timeout = timeoutMs) {
    if (signal) this.kill(signal);
    return (await this.until(() => this.status !== undefined && [this.status], `${this.name} to end`, timeout))[0];
  }

  kill(signal) {
    if (this.status !== undefined || this.pid === undefined) return;
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}

// The descendants of `pid` whose command line contains `words`.
export function descendants(pid, words) {
  const parents = new Map();
  for (const entry of fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
    const status = readQuietly(`/proc/${entry}/status`);
    parents.set(Number(entry), Number(/^PPid:\s*([0-9]+)/m.exec(status)?.[1]));
  }
  const isBelow = (child) => parents.has(child) && (parents.get(child) === pid || isBelow(parents.get(child)));
  const commandOf = (child) => readQuietly(`/proc/${child}/cmdline`).replaceAll('\0', ' ');
  return [...parents.keys()].filter((child) => isBelow(child) && commandOf(child).includes(words));
}

function readQuietly(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return ''; // the process has ended
  }
}

export async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

export function canConnect(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

// Polls until the condition holds.
export async function until(condition, what, timeout = timeoutMs) {
  for (const end = Date.now() + timeout; ; await sleep(50)) {
    const found = await condition();
    if (found) return found;
    assert.ok(Date.now() < end, `waited ${timeout} ms for: ${what}`);
  }
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// The JSON line at the end of an answer of start_workflow or continue_workflow, from the texts of its content blocks.
export function answerLine(texts) {
  for (const text of [...texts].reverse()) {
    for (const line of text.trimEnd().split('\n').reverse()) {
      const value = line.startsWith('{') ? parsed(line) : undefined;
      if (value?.kind !== undefined && value.sessionId !== undefined) return value;
    }
  }
  return undefined;
}

export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tail(text, lines = 40, columns = 300) {
  return text.trimEnd().split('\n').slice(-lines).map((line) => line.slice(0, columns)).join('\n');
}
