import { describe, expect, it } from 'vitest';
import { HostError, type HostErrorCode } from '../../../src/words/host-error.ts';
import { pushOutcome, Refusal, toRefusal } from '../../../src/push/reply/refusal.ts';
import { suspended } from '../../../src/service/push-refusals.ts';

const ofHost = (code: HostErrorCode) =>
  new Refusal('fork', 'the fork could not be made', [], { cause: new HostError(code, 'words') });

describe('the outcome of a push', () => {
  it.each([
    ['accepted', null],
    ['suspended', suspended()],
    ['rate-limited', new Refusal('rate-limited', 'rate limit exceeded', [])],
    ['refused', new Refusal('fetch-first', 'fetch first', [])],
    ['refused', ofHost('refused')],
    ['refused', ofHost('missing')],
    ['failed', ofHost('unreachable')],
    ['failed', ofHost('rate-limited')],
    [
      'failed',
      new Refusal('unguarded', 'the service cannot check its limits', [], { cause: new Error('the guard') }),
    ],
    ['failed', toRefusal(new TypeError('ours'), 'git')],
  ] as const)('is %s', (outcome, refusal) => {
    expect(pushOutcome(refusal)).toBe(outcome);
  });
});
