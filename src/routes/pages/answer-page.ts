/**
 * Sends pages to clients that ask for them.
 * Proved by test/routes/pages/front-page.test.ts.
 */
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../../env.ts';
import { longBody } from '../request/long-body.ts';
import { type Page, pageHeaders, renderPage } from '../../pages/layout.ts';

/** Gives the type that the client prefers; `usual` if it accepts anything. */
export function preferredType<const T extends string>(c: Context, types: readonly T[], usual: T): T {
  return accepts(c, { header: 'Accept', supports: [...types], default: usual }) as T;
}

export async function answerPage(
  c: Context<AppEnv>,
  page: Page,
  status: ContentfulStatusCode,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const body = longBody(c, (await renderPage(page, c.var.config)).toString());
  return c.body(body, status, {
    'Content-Type': 'text/html; charset=UTF-8',
    ...pageHeaders(page),
    ...headers,
  });
}
