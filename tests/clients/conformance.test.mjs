// The public conformance suite of MCP, at both revisions with frozen requirements: all of them against the fixture
// server built from src/mcp, and those that need no fixture against `signalbox serve`, through a forwarder that adds
// the token: the suite sends none.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { clients, freePort, canConnect, programs, scenario, until } from './support.mjs';

const revisions = ['2025-11-25', '2026-07-28'];
const fixture = path.join(programs, 'signalbox-mcp-fixture');

// Run by the suite but not required; the fixture passes them anyway.
const beyond = {
  '2025-11-25': ['server-session-lifecycle', 'server-sse-polling', 'json-schema-2020-12'],
  '2026-07-28': ['json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation'],
};

// Scenarios that call nothing specific to the suite.
const withoutFixture = {
  '2025-11-25': [
    'server-initialize', 'server-session-lifecycle', 'ping', 'logging-set-level', 'tools-list', 'resources-list',
    'prompts-list', 'server-sse-multiple-streams', 'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list', 'resources-list', 'prompts-list', 'server-sse-multiple-streams', 'sep-2164-resource-not-found',
    'caching', 'dns-rebinding-protection', 'http-header-validation', 'input-required-result-unsupported-methods',
  ],
};

// The names under `server:` in the suite's list for the revision.
function required(revision) {
  const file = path.join(path.dirname(clients.conformance), '../requirements', `${revision}.yaml`);
  const section = fs.readFileSync(file, 'utf8').split(/^server:$/m)[1].split(/^\S/m)[0];
  const names = [...section.matchAll(/^ {2}- (\S+)$/gm)].map((match) => match[1]);
  assert.ok(names.length >= 30, `${file} lists only ${names.length} server scenarios`);
  return names;
}

// Runs the suite and returns {scenario: [{id, status, errorMessage}…]}.
function runSuite(place, url, args) {
  const out = fs.mkdtempSync(path.join(place.dir, 'checks-'));
  const log = place.finish(process.execPath, [clients.conformance, 'server', '--url', url, ...args, '-o', out]);
  place.log('conformance.log', log);
  const results = {};
  for (const folder of fs.readdirSync(out)) {
    const name = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    results[name] = JSON.parse(fs.readFileSync(path.join(out, folder, 'checks.json'), 'utf8'));
  }
  return results;
}

// Asserts that every check passed and that all messages match the revision's schema.
function assertPassed(results, names) {
  let checks = 0;
  for (const name of names) {
    assert.ok(results[name], `${name} was not run`);
    for (const { id, status, errorMessage } of results[name]) {
      assert.ok(['SUCCESS', 'INFO', 'SKIPPED'].includes(status), `${name}: ${id} is ${status}: ${errorMessage ?? ''}`);
      checks += status === 'SUCCESS';
    }
    const isSilent = results[name].every(({ id }) => id !== 'wire-schema-valid');
    assert.ok(!isSilent || name === 'dns-rebinding-protection' || name.startsWith('server-s') ||
      name.startsWith('http-'), `${name}: nothing was checked against the schema`);
  }
  return checks;
}

for (const revision of revisions) {
  scenario(`the fixture server passes all of ${revision}`, async (place) => {
    const port = await freePort();
    const server = place.start(fixture, ['--port', String(port)], { name: 'fixture' });
    await until(() => canConnect(port), 'the fixture server listens');
    const results = runSuite(place, `http://localhost:${port}/mcp`, ['--requirements', revision]);
    const checks = assertPassed(results, [...required(revision), ...beyond[revision]]);
    console.error(`conformance: ${revision}: ${required(revision).length} scenarios, ${checks} checks passed`);
    assert.equal(await server.end('SIGTERM'), 0);
  });

  scenario(`signalbox serve passes what needs no fixture of ${revision}`, async (place) => {
    const server = await place.serve();
    const port = await place.forwarder(server);
    for (const name of withoutFixture[revision]) {
      const args = ['--scenario', name, '--spec-version', revision];
      assertPassed(runSuite(place, `http://localhost:${port}/mcp`, args), [name]);
    }
    assert.equal(await server.stop(), 0);
  });
}
