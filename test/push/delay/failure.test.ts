/** Whether what goes wrong with one delayed push stops the others that are due. */
import { expect, it } from 'vitest';
import { HostError, type HostErrorCode } from '../../../src/words/host-error.ts';
import { failureOf } from '../../../src/push/delay/release.ts';
import { Refusal } from '../../../src/push/reply/refusal.ts';
import { HostPause } from '../../../src/host/failure.ts';

const MINUTE_MS = 60_000;
const UNGUARDED = new Refusal('unguarded', 'the service cannot check its limits', [
  'Nothing was changed. Push again in a few minutes.',
]);
const PAUSED = new Refusal('account', 'the code host asks to wait', [], {
  cause: new HostPause('host.test', MINUTE_MS),
  waitMs: MINUTE_MS,
});

const AT_HOST = (status: number, means: object, code: HostErrorCode = 'missing') =>
  new Refusal('lookup', 'the repository could not be looked up', ['No.'], {
    cause: new HostError(code, 'No.', undefined, { status, ...means }),
  });

const LOCAL_PAUSE = { lasts: 'until', retryAfterMs: MINUTE_MS, isLocal: true };

it.each([
  [
    'the account has little left',
    new Refusal('account', 'little left', [], { waitMs: MINUTE_MS }),
    'later',
    true,
  ],
  ['the host asks for a pause', PAUSED, 'later', true],
  ['there is no memory', new HostError('busy', 'Busy.'), 'later', true],
  // Else whoever has a repository with a low limit could make all others wait.
  [
    'the repository takes no more now',
    new Refusal('rate-limited', 'too many', [], { waitMs: MINUTE_MS }),
    'later',
    false,
  ],
  // An object that was restarted in the middle, by a deployment for example.
  ['the limits cannot be asked', UNGUARDED, 'later', false],
  [
    'the service itself fails',
    new Error('Durable Object reset because its code was updated.'),
    'later',
    false,
  ],
  ['the push cannot be published', new Refusal('base', 'no such branch', []), 'final', false],
  // The operator mends it, and nothing is lost meanwhile.
  ['the account is suspended', AT_HOST(403, { whose: 'ours', lasts: 'final' }), 'later', true],
  // Else whoever invites the App could make all others wait.
  ['the host asks the App there for a pause', AT_HOST(429, LOCAL_PAUSE), 'later', false],
  // Its maintainers or the operator mend it.
  ['the host refuses the App there', AT_HOST(403, { isLocal: true }, 'refused'), 'later', false],
  ['the repository is gone', AT_HOST(404, { whose: 'person', lasts: 'final' }), 'later', false],
] as const)('%s', (_, error, kind, isForAll) => {
  expect(failureOf(error, 0)).toMatchObject({ failure: { kind }, isForAll });
});

it('that is the service’s own tells nobody to push again, as it is tried again', () => {
  expect(failureOf(UNGUARDED, 0).failure).toMatchObject({
    said: ['the service cannot check its limits'],
  });
});

// Git's interface says 401 of a repository that the public does not see.
it.each([404, 401])('that the host says once, with %d, need not be true', (status) => {
  const gone = AT_HOST(status, { whose: 'person', lasts: 'final' });
  expect(failureOf(gone, 9)).toMatchObject({ failure: { kind: 'later' }, isForAll: false });
  expect(failureOf(gone, 10)).toMatchObject({ failure: { kind: 'final' } });
});
