/**
 * Asks which thread a reply is for, with the newest open ones to choose from.
 * Proved by test/e2e/people/conversation.test.ts.
 */
import { replyClosedPage, replyToPage } from '../../pages/forms/reply-pages.ts';
import { openThreadsOf } from '../request/open-threads.ts';
import { answerForm, type RequestedForm } from './form.ts';
import { outlookOf } from './known-first.ts';

/**
 * Asks which thread is meant, unless no reply can be posted now.
 * @param words why what was typed names none; null: nothing was.
 */
export async function chooseThread(
  place: RequestedForm,
  typed: string,
  words: string | null,
  status: 200 | 400 | 404,
): Promise<Response> {
  const { c, target } = place;
  const [{ closed }, threads] = await Promise.all([outlookOf(place, 'comments'), openThreadsOf(c, target)]);
  if (closed !== null) return answerForm(c, replyClosedPage(place, closed));
  return answerForm(c, replyToPage(place, typed, words, threads), status);
}
