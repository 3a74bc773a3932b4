/**
 * Shows a pull request that a form has opened or updated.
 * Proved by test/e2e/people/change-form.test.ts and test/e2e/people/file-form.test.ts.
 */
import { pullRequestTopic } from '../../notify/ntfy.ts';
import { changeDonePage, type OpenedChange } from '../../pages/forms/change-pages.ts';
import { pullRequestPath } from '../../words/pr-hash.ts';
import { shownOrigin } from '../request/public-origin.ts';
import { answerForm, type RequestedForm } from './form.ts';

/** @param path the file at which somebody may go on; empty: none. */
export function showOpened(
  place: RequestedForm,
  path: string,
  opened: Omit<OpenedChange, 'path' | 'topicUrl' | 'pageUrl' | 'needsKey'>,
): Promise<Response> {
  const { c } = place;
  const { config } = c.var;
  const topicUrl = `${config.notifyBaseUrl}/${pullRequestTopic(opened.prHash)}`;
  const pageUrl = shownOrigin(c.req.raw, config) + pullRequestPath(opened.prHash);
  const needsKey = config.prUpdatePolicy === 'key';
  return answerForm(c, changeDonePage(place, { ...opened, path, topicUrl, pageUrl, needsKey }));
}
