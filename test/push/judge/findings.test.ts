/** The steps of judging: all run, and the first refusal gives the reason. */
import { expect, it, vi } from 'vitest';
import { Findings, refusalOf } from '../../../src/push/judge/findings.ts';
import { Refusal } from '../../../src/push/reply/refusal.ts';
import { say, warn } from '../../../src/words/finding.ts';

const FIRST = new Refusal('sign-off', 'a sign-off is required', ['Sign it.']);
const SECOND = new Refusal('names', 'your name would become public', ['Ada']);

it('runs every step, although one has refused, whether it throws or answers', async () => {
  const findings = new Findings();
  await findings.run(() => warn('people', 'Bob'));
  await findings.run(() => Promise.reject(FIRST));
  await findings.run(() => [SECOND]);
  expect(findings.all.map(({ code }) => code)).toEqual(['sign-off', 'names', 'people']);
  const refusal = refusalOf(findings.all);
  expect(refusal).toMatchObject({ code: 'sign-off', reason: FIRST.reason, lines: FIRST.lines });
  expect(refusal?.also.map(({ code }) => code)).toEqual(['names', 'people']);
});

it('tells what the repository asks for before the rest', () => {
  const findings = new Findings();
  findings.add([...warn('people', 'Bob'), ...say('gate', 'A gate.'), ...warn('workflows', 'ci.yml'), FIRST]);
  expect(findings.all.map(({ code }) => code)).toEqual(['sign-off', 'gate', 'workflows', 'people']);
});

it('refuses nothing where nothing refuses', () => {
  expect(refusalOf([...warn('people', 'Bob'), ...say('searched', 'Ada')])).toBeNull();
  expect(warn('people')).toEqual([]);
});

it('ends when the code host fails, which the next step would ask again', async () => {
  const findings = new Findings();
  const silent = new Refusal('lookup', 'the repository could not be looked up', []);
  await expect(findings.run(() => Promise.reject(silent))).rejects.toBe(silent);
  const fault = new Error('fault');
  await expect(findings.run(() => Promise.reject(fault))).rejects.toBe(fault);
  const step = vi.fn(() => []);
  await findings.run(step);
  expect(step).toHaveBeenCalled();
});

it('tells what was found before judging ended, but a fault of the service and a limit stand alone', () => {
  const findings = new Findings();
  const silent = new Refusal('lookup', 'the repository could not be looked up', []);
  expect(findings.endedBy(silent, 'git')).toBe(silent);
  findings.add([FIRST]);
  expect(findings.endedBy(silent, 'git')).toMatchObject({ code: 'sign-off', also: [{ code: 'lookup' }] });
  const fault = new Error('fault');
  expect(findings.endedBy(fault, 'git')).toBe(fault);
  const full = new Refusal('rate-limited', 'rate limit exceeded', []);
  expect(findings.endedBy(full, 'git')).toBe(full);
});
