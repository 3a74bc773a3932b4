/**
 * The rules for Prometheus of deploy/alerts.yml: what promtool says of them, and that they name
 * series and labels that /metrics has. promtool is in Debian's package `prometheus`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CATALOGUE, GAUGES } from '../../src/metrics/catalogue.ts';
import { isInstalled } from '../support/is-installed.ts';
import { ROOT } from './programs.ts';

const RULES = readFileSync(join(ROOT, 'deploy/alerts.yml'), 'utf8');
const SERIES: Readonly<Record<string, { labels: readonly string[] }>> = { ...CATALOGUE, ...GAUGES };
const hasPromtool = isInstalled('promtool');
if (!hasPromtool) console.log('Skipped: promtool is not installed (apt-get install prometheus).');

const promtool = (...args: string[]): string =>
  execFileSync('promtool', args, { cwd: join(ROOT, 'deploy'), encoding: 'utf8' });

it('name series and labels that /metrics has', () => {
  const named = Array.from(RULES.matchAll(/\b(gitveil_\w+?)(?:_bucket)?\b(?:\{([^}]*)\})?/g));
  expect(named.length).toBeGreaterThan(10);
  const unknown = named.filter(([, name = '', labels = '']) => {
    const used = Array.from(labels.matchAll(/(\w+)=/g), ([, label = '']) => label);
    return SERIES[name] === undefined || used.some((label) => !SERIES[name]?.labels.includes(label));
  });
  expect(unknown.map(([text]) => text)).toEqual([]);
});

it.skipIf(!hasPromtool)('are valid, fire in a bad hour and are silent on a quiet day', () => {
  const rules = RULES.match(/- alert:/g)?.length ?? 0;
  expect(promtool('check', 'rules', 'alerts.yml')).toContain(`SUCCESS: ${rules} rules found`);
  expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
  const tests = readFileSync(join(ROOT, 'deploy/alerts.test.yml'), 'utf8');
  expect(tests).toContain(`exp_samples: [{ labels: '{}', value: ${rules} }]`);
});
