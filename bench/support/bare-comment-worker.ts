/**
 * The least that posts a comment for someone else and remembers it: a Hono handler that makes the
 * one call to the host, by Octokit too, and an object for each identity that writes one row.
 */
import { DurableObject } from 'cloudflare:workers';
import { Octokit } from '@octokit/rest';
import { Hono } from 'hono';

interface Variables {
  readonly HOSTING_API_URL: string;
  readonly HOSTING_TOKEN: string;
  readonly IDENTITIES: DurableObjectNamespace<BareIdentity>;
}

export class BareIdentity extends DurableObject {
  readonly #sql = this.ctx.storage.sql;

  constructor(ctx: DurableObjectState, env: Variables) {
    super(ctx, env);
    this.#sql.exec('CREATE TABLE IF NOT EXISTS comments (url TEXT)');
  }

  add(url: string): void {
    this.#sql.exec('INSERT INTO comments VALUES (?)', url);
  }
}

const app = new Hono<{ Bindings: Variables }>();

let octokit: Octokit | null = null;

app.post('/v1/gh/:owner/:repo/issues/:number/comments/anonymous', async (c) => {
  const { owner, repo, number } = c.req.param();
  const { body, user_token } = await c.req.json<{ body: string; user_token: string }>();
  octokit ??= new Octokit({ auth: c.env.HOSTING_TOKEN, baseUrl: c.env.HOSTING_API_URL, userAgent: 'bare' });
  const { data } = await octokit.rest.issues.createComment({
    owner,
    repo,
    issue_number: Number(number),
    body,
  });
  await c.env.IDENTITIES.get(c.env.IDENTITIES.idFromName(user_token)).add(data.html_url);
  return c.json({ comment_url: data.html_url });
});

export default app;
