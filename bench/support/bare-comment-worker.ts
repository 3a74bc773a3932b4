/** The least that posts a comment for someone else: a Hono handler that makes the one call to the host. */
import { Hono } from 'hono';

interface Variables {
  readonly HOSTING_API_URL: string;
  readonly HOSTING_TOKEN: string;
}

const app = new Hono<{ Bindings: Variables }>();

app.post('/v1/gh/:owner/:repo/issues/:number/comments/anonymous', async (c) => {
  const { owner, repo, number } = c.req.param();
  const { body } = await c.req.json<{ body: string }>();
  const answer = await fetch(`${c.env.HOSTING_API_URL}/repos/${owner}/${repo}/issues/${number}/comments`, {
    method: 'POST',
    headers: {
      Accept: 'application/vnd.github.v3+json',
      Authorization: `token ${c.env.HOSTING_TOKEN}`,
      'Content-Type': 'application/json; charset=utf-8',
      'User-Agent': 'bare',
    },
    body: JSON.stringify({ body }),
  });
  const { html_url: url } = await answer.json<{ html_url: string }>();
  return c.json({ comment_url: url }, answer.ok ? 200 : 400);
});

export default app;
