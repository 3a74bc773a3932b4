/** Each series of /metrics is used: by an alert of `deploy/`, or by a document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CATALOGUE, GAUGES } from '../../src/metrics/catalogue.ts';

const ROOT = join(import.meta.dirname, '../..');
const users = ['deploy/alerts.yml', 'docs/operations.md']
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n');

it.each([...Object.keys(CATALOGUE), ...Object.keys(GAUGES)])('%s is used', (name) => {
  expect(users).toMatch(new RegExp(String.raw`\b${name}(?:_bucket|_sum|_count)?\b`));
});
