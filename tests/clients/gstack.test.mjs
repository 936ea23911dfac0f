// gstack's own tests, with our programs in place of its two programs and two hooks.
//
// GSTACK_CHECKOUT names a checkout of gstack in which `bun install` was run; it is copied and not changed. Without it,
// or without bun, the tests are skipped. A test that reads the source text of what is replaced cannot pass.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { programs, scenario } from './support.mjs';

const checkout = process.env.GSTACK_CHECKOUT;
const onPath = (process.env.PATH ?? '').split(':').map((folder) => path.join(folder, 'bun'));
const bun = onPath.find((file) => fs.existsSync(file));

const replaced = [
  'bin/gstack-question-preference',
  'bin/gstack-question-log',
  'hosts/claude/hooks/question-preference-hook',
  'hosts/claude/hooks/question-log-hook',
];

// The tests that run what is replaced.
const suites = [
  'gstack-question-preference',
  'gstack-question-log',
  'question-preference-hook',
  'question-log-hook',
  'memory-cache-injection',
  'gstack-state-root-override',
  'gstack-codex-session-import',
  'gstack-distill-apply',
  'plan-tune',
];

function reasonToSkip() {
  if (!checkout) return 'GSTACK_CHECKOUT does not name a checkout of gstack';
  if (!fs.existsSync(path.join(checkout, replaced[0]))) return `${checkout} has no ${replaced[0]}`;
  return bun ? false : 'bun is not on the PATH';
}

// The names of the tests that look at the text of a replaced file or its TypeScript source, which a program has not.
function testsOfSource(file) {
  const source = /readFileSync\((?:\s*(?:BIN|HOOK)\b|[^;]*question-(?:log|preference)(?:-hook)?(?:\.ts)?['"`])/;
  const tests = fs.readFileSync(file, 'utf8').split(/^\s*(?:test|it)\(\s*(?=['"`])/m).slice(1);
  const names = tests.filter((body) => source.test(body)).map((body) => /^(['"`])((?:\\.|(?!\1).)*)\1/.exec(body)?.[2]);
  return names.filter(Boolean);
}

function copyOf(place) {
  const copy = path.join(place.dir, 'gstack');
  const isCopied = (file) => !['.git', 'node_modules', 'dist'].includes(path.basename(file));
  fs.cpSync(checkout, copy, { recursive: true, verbatimSymlinks: true, filter: isCopied });
  const modules = path.join(checkout, 'node_modules');
  if (fs.existsSync(modules)) fs.symlinkSync(fs.realpathSync(modules), path.join(copy, 'node_modules'));
  for (const name of replaced) {
    fs.rmSync(path.join(copy, name), { force: true });
    fs.symlinkSync(path.join(programs, 'signalbox-hook'), path.join(copy, name));
  }
  return copy;
}

function passes(place, file) {
  const copy = copyOf(place);
  const env = { ...place.env, PATH: `${path.dirname(bun)}:${place.env.PATH}` };
  const ran = spawnSync(bun, ['test', `./${file}`], { cwd: copy, env, encoding: 'utf8', timeout: 300_000 });
  const output = `${ran.stdout}${ran.stderr}`;
  place.log('bun.stderr', output);
  assert.match(output, /^\s*\d+ pass$/m, 'bun ran tests');
  const failed = [...output.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+ ?m?s\])?$/gm)].map(([, name]) => name);
  const ofSource = testsOfSource(path.join(copy, file));
  assert.deepEqual(failed.filter((name) => !ofSource.some((known) => name.endsWith(known))), []);
  assert.equal(failed.length === 0, ran.status === 0, 'bun failed for another reason');
}

const skip = reasonToSkip();
if (skip) scenario("gstack's own tests pass with our programs", () => {}, { skip });
for (const suite of skip ? [] : suites) {
  const file = `test/${suite}.test.ts`;
  const isThere = fs.existsSync(path.join(checkout, file));
  scenario(`gstack's ${suite} passes with our programs`, async (place) => passes(place, file), {
    skip: isThere ? false : `${file} is not in this version of gstack`,
  });
}
