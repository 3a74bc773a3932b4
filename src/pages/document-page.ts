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
import { contactLink, filled, type Page } from './layout.ts';

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

type Service = Pick<Config, 'limits' | 'sourceRepo' | 'operatorContact' | 'signingKey'>;

/**
 * Gives the values of `{{name}}` in a text.
 * @param origin the service's, which examples name.
 */
function valuesOf(
  { limits, sourceRepo, signingKey }: Service,
  origin: string,
): Readonly<Record<string, string>> {
  const texts = OPEN_LIMIT_NAMES.map((limit) => [
    OPEN_LIMITS[limit].variable,
    limitText(limits[limit]) || 'no limit',
  ]);
  const signing_key = signingKey?.publicKey ?? 'none, this service does not sign';
  return { ...Object.fromEntries(texts), service: origin, source: sourceRepo, signing_key };
}

/** Makes the text for a terminal. */
export function documentText(name: 'privacy' | 'maintainers', service: Service, origin: string): string {
  const values = valuesOf(service, origin);
  return DOCUMENTS[name].markdown.replaceAll(/\{\{(\w+)\}\}/g, (place, key: string) => values[key] ?? place);
}

export function documentPage(name: keyof typeof DOCUMENTS, service: Service, origin: string): Page {
  const { title, description, text } = DOCUMENTS[name];
  const document = filled(text, valuesOf(service, origin));
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
