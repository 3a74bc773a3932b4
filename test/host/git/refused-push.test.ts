import { expect, it } from 'vitest';
import { refusedPush } from '../../../src/host/git/refused-push.ts';

it.each([
  ['fail to run proc-receive hook', 'moment'],
  ['cannot lock ref', 'moment'],
  ['base-branch does not exist', 'final'],
])('a refusal in the words "%s" is for the %s', (reason, lasts) => {
  const commandStatuses = [{ refName: 'refs/for/main', reason }];
  const refused = refusedPush({ unpackStatus: 'ok', commandStatuses, messages: '' });
  expect(refused?.error).toMatchObject({ failure: { lasts } });
});
