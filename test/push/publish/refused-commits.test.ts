import { expect, it } from 'vitest';
import { refusedCommits } from '../../../src/push/publish/delivery.ts';

it.each([
  ['fail to run proc-receive hook', 'moment'],
  ['cannot lock ref', 'moment'],
  ['base-branch does not exist', 'final'],
])('a refusal in the words "%s" is for the %s', (reason, lasts) => {
  const commandStatuses = [{ refName: 'refs/for/main', reason }];
  const refusal = refusedCommits({ unpackStatus: 'ok', commandStatuses, messages: '' });
  expect(refusal?.cause).toMatchObject({ failure: { lasts } });
});
