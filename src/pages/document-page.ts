/**
 * Shows the pages that `npm run documents` makes: as HTML and, but for the API's, as Markdown. The
 * service only fills in its own values.
 * Proved by test/routes/pages/documents.test.ts and test/routes/pages/docs.test.ts.
 */
import { html } from 'hono/html';
import type { Config } from '../config/config.ts';
import { limitText } from '../config/values.ts';
import { OPEN_LIMIT_NAMES, OPEN_LIMITS } from '../limits/limits.ts';
import API_HTML from './documents/api.html';
import MAINTAINERS_HTML from './documents/maintainers.html';
import MAINTAINERS_TXT from './documents/maintainers.txt';
import PRIVACY_HTML from './documents/privacy.html';
import PRIVACY_TXT from './documents/privacy.txt';
import { contactLink, filled, type Page, safeUrl } from './layout.ts';

export const DOCUMENTS = {
  privacy: {
    title: 'Privacy',
    description: 'Who learns what of a push without an account.',
    text: PRIVACY_HTML,
    markdown: PRIVACY_TXT,
  },
  maintainers: {
    title: 'For maintainers',
    description: 'What an anonymous pull request is, and how to say no.',
    text: MAINTAINERS_HTML,
    markdown: MAINTAINERS_TXT,
  },
  api: {
    title: 'API',
    description:
      'An anonymising Git remote and its JSON API: pull requests, comments and issues without an account. You need no key for them. The code host learns neither your name nor your address.',
    text: API_HTML,
  },
} as const;

type Service = Pick<Config, 'hosts' | 'limits' | 'sourceRepo' | 'operatorContact' | 'signingKey'>;

/** The values that only the service knows which shows a document. */
interface Shown {
  /** The service's origin, which examples name. */
  readonly origin: string;
  /** Where maintainers install the App; null: there is none, or nobody knows now. */
  readonly app: string | null;
}

/** Gives the values of `{{name}}` in a text. */
function valuesOf(
  { hosts, limits, sourceRepo, signingKey }: Service,
  { origin, app }: Shown,
): Readonly<Record<string, string>> {
  const texts = OPEN_LIMIT_NAMES.map((limit) => [
    OPEN_LIMITS[limit].variable,
    limitText(limits[limit]) || 'no limit',
  ]);
  const signing_key = signingKey?.publicKey ?? 'none, this service does not sign';
  const unknown = hosts[0].app === undefined ? 'none' : 'not known at the moment, ask the operator';
  const values = { service: origin, source: sourceRepo, signing_key, app: app ?? unknown };
  return { ...Object.fromEntries(texts), ...values };
}

/** Makes the text for a terminal. */
export function documentText(name: 'privacy' | 'maintainers', service: Service, shown: Shown): string {
  const values = valuesOf(service, shown);
  return DOCUMENTS[name].markdown.replaceAll(/\{\{(\w+)\}\}/g, (place, key: string) => values[key] ?? place);
}

export function documentPage(name: keyof typeof DOCUMENTS, service: Service, shown: Shown): Page {
  const { title, description, text } = DOCUMENTS[name];
  const values = valuesOf(service, shown);
  const { app } = shown;
  const link = app === null ? {} : { app: html`<a href="${safeUrl(app)}" rel="noreferrer">${app}</a>` };
  const document = filled(text, { ...values, ...link });
  const { operatorContact: contact } = service;
  const operator = contact
    ? html`To reach the operator of this service: ${contactLink(contact)}.`
    : 'The operator of this service names no address to write to.';
  const article = html`<main class="narrow">
    <p class="soft">${operator}</p>
    <article class="document">${document}</article>
  </main>`;
  const content = name === 'api' ? html`<main>${document}</main>` : article;
  return { title: `${title} · gitveil`, description, content };
}
