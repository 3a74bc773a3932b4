/** Pushes that wait if there is no room for them. */
import { expect, it } from 'vitest';
import { mayWait, withAdvice } from '../../../src/push/delay/keep.ts';
import type { PushSettings } from '../../../src/push/push-host.ts';
import { parsePushOptions } from '../../../src/push/receive/push-options.ts';
import { Refusal } from '../../../src/push/reply/refusal.ts';

const { options } = parsePushOptions([]);
const full = new Refusal('rate-limited', 'too many', [], { waitMs: 1_000 });
const settings = (door: PushSettings['door'], whenBusy: PushSettings['whenBusy']) =>
  ({ door, whenBusy }) as PushSettings;

it('are those with the option, or all where the operator wants it, but no patch: the host has seen its files', () => {
  const patch = { name: 'patch', used: [] } as const;
  expect(mayWait(settings('git', 'refuse'), options)).toBe(false);
  expect(mayWait(settings('git', 'refuse'), { ...options, wait: true })).toBe(true);
  expect(mayWait(settings({ ...patch, name: 'bundle' }, 'wait'), options)).toBe(true);
  expect(mayWait(settings(patch, 'wait'), options)).toBe(false);
  expect(withAdvice({ settings: settings('git', 'refuse') }, options, full).lines).toHaveLength(1);
  expect(withAdvice({ settings: settings(patch, 'refuse') }, options, full).lines).toEqual([]);
});
