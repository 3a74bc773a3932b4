/** The options of a request whose pack was never read. */
import { expect, it } from 'vitest';
import { unreadRequest } from '../../../src/git/wire/push-request.ts';
import { announced } from '../../../src/push/receive/receive.ts';

it('an unread request keeps the options of its address, by which its limits are judged', () => {
  const { parsed, options } = announced(
    unreadRequest(new Error('unread'), ['preview', 'pr-hash=0123456789ab']),
  );
  expect(parsed.options).toMatchObject({ preview: true, prHash: '0123456789ab' });
  expect(options).toBeNull();
});
