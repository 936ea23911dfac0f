// Runs every tests/clients/*.test.mjs, two in parallel, and prints one line per test.
//
//   node tests/clients/run.mjs [--programs build/release] [--keep] [NAME...]
//
// NAME is a part of a file's name; without one all run. A failed test prints the end of its processes' output and keeps
// the logs in build/clients-log/; with --keep every test keeps them. Exits 1 if a test failed.
import { run } from 'node:test';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../..');
const names = [];
let programs = 'build/release';
for (let args = process.argv.slice(2); args.length > 0; ) {
  const argument = args.shift();
  if (argument === '--programs') programs = args.shift();
  else if (argument === '--keep') process.env.SIGNALBOX_TEST_KEEP = '1';
  else names.push(argument);
}
process.env.SIGNALBOX_TEST_PROGRAMS = path.resolve(root, programs);
for (const needed of [`${programs}/signalbox`, 'build/clients/installed']) {
  if (existsSync(path.resolve(root, needed))) continue;
  console.error(`clients: ${needed} is missing. Run ./test clients, which creates it.`);
  process.exit(2);
}

const files = readdirSync(here)
  .filter((file) => file.endsWith('.test.mjs'))
  .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
  .map((file) => path.join(here, file));
if (files.length === 0) {
  console.error(`clients: no test file in tests/clients matches ${names.join(', ')}`);
  process.exit(2);
}
rmSync(path.join(root, 'build/clients-log'), { recursive: true, force: true });

const isFile = (event) => event.name.endsWith('.test.mjs') && event.nesting === 0;
let passed = 0;
let failed = 0;
let skipped = 0;
const runner = run({ files, concurrency: 2, execArgv: ['--import', path.join(here, 'resolve.mjs')] });
runner.on('test:pass', (event) => {
  if (isFile(event)) return;
  if (event.skip) {
    skipped += 1;
    return console.log(`SKIPPED  ${event.name}: ${event.skip}`);
  }
  passed += 1;
  console.log(`ok    ${event.name} (${(event.details.duration_ms / 1000).toFixed(1)} s)`);
});
runner.on('test:fail', (event) => {
  // A file fails with its tests, which have reported why, or because it could not be loaded.
  const error = event.details.error?.cause ?? event.details.error;
  if (isFile(event) && event.details.error?.failureType === 'subtestsFailed') return;
  failed += 1;
  console.log(`FAIL  ${event.name}\n${indent(error?.stack ?? error?.message ?? String(error))}`);
});
runner.on('test:stderr', (event) => process.stderr.write(event.message));
runner.on('end', () => {
  console.log(`clients: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exit(failed === 0 && passed + skipped > 0 ? 0 : 1);
});
runner.resume();

function indent(text) {
  return text.replace(/^/gm, '      ');
}
