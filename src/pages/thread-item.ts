/**
 * An issue or a pull request in a list. Its title leads to what people wrote, and to a reply.
 * Proved by test/e2e/people/open-threads.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import { plainText } from './conversation.ts';
import type { Html } from './layout.ts';

/** @param replyForm the path of the form of a reply. */
export function threadItem(replyForm: string, number: number, title: string, facts: Html): Html {
  return html`<li>
    <a href="${replyForm}?to=${number}">#${number} <bdi>${plainText(title)}</bdi></a>
    <span class="soft small">${facts}</span>
  </li>`;
}

/** @param time in ISO 8601, of which the day is shown. */
export function dayElement(time: string): Html {
  const day = time.slice(0, 10);
  return html`<time datetime="${day}">${day}</time>`;
}
