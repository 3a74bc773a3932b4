/** The frame of the pages with forms. */
import { html } from 'hono/html';
import { type Html, type Page, unlistedPage } from '../layout.ts';

export interface FormFrame {
  /** `owner/repo` */
  readonly repository: string;
  /** The page of the repository on this service. */
  readonly home: string;
  /** Where the form is sent. */
  readonly action: string;
  readonly token: string;
  readonly problem: string | null;
}

export function formPage(
  title: string,
  { repository, home }: Pick<FormFrame, 'repository' | 'home'>,
  lead: Html,
  content: Html,
  width: 'narrow' | 'wide' = 'narrow',
): Page {
  return unlistedPage(
    `${title} · ${repository}`,
    `${title} without an account.`,
    html`<p class="crumbs"><a href="${home}">${repository}</a></p>
      <h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${content}`,
    width,
  );
}
