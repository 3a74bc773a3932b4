/** The least that posts a comment for someone else: a Hono handler that makes the one call to the host, by Octokit too. */
import { Octokit } from '@octokit/rest';
import { Hono } from 'hono';

interface Variables {
  readonly HOSTING_API_URL: string;
  readonly HOSTING_TOKEN: string;
}

const app = new Hono<{ Bindings: Variables }>();

let octokit: Octokit | null = null;

app.post('/v1/gh/:owner/:repo/issues/:number/comments/anonymous', async (c) => {
  const { owner, repo, number } = c.req.param();
  const { body } = await c.req.json<{ body: string }>();
  octokit ??= new Octokit({ auth: c.env.HOSTING_TOKEN, baseUrl: c.env.HOSTING_API_URL, userAgent: 'bare' });
  const { data } = await octokit.rest.issues.createComment({
    owner,
    repo,
    issue_number: Number(number),
    body,
  });
  return c.json({ comment_url: data.html_url });
});

export default app;
