/** What a form says where a push is told of an option. */
import { expect, it } from 'vitest';
import { withAdvice } from '../../../../src/push/delay/keep.ts';
import { Refusal } from '../../../../src/push/reply/refusal.ts';
import { refusedPush } from '../../../../src/routes/forms/change/form-push.ts';

it('names the field for a later time, and not the option, if there is no room now', () => {
  const full = new Refusal('account', 'the bot account has little left', ['Try again in about an hour.']);
  expect(refusedPush(withAdvice(full)).explanation).toBe(
    'The bot account has little left.\nTry again in about an hour.\nOr choose a later time under “When it becomes public”.',
  );
});
