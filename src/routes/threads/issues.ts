/**
 * Anonymous issues (contract, 4.3). The bot creates them. After that, an issue is a thread like any other; the token in
 * the answer identifies its author there.
 */
import { type Context, Hono } from 'hono';
import { openHostAccess } from '../../durable/host-access.ts';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { NewIssue } from '../../host/code-host.ts';
import { openThreads } from '../../host/open.ts';
import { HostError } from '../../host/host-error.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { type WriteFailure, writeFailure } from '../../host/write-failure.ts';
import { footerProblem } from '../../identity/footer-room.ts';
import { MAX_TEXT_CHARACTERS, characters, issueText } from '../../identity/footer.ts';
import { identityHash } from '../../identity/keyed-hash.ts';
import { serviceSecret } from '../../identity/service-secret.ts';
import { newUserToken } from '../../identity/user-token.ts';
import { listPseudonym } from '../../stats/listed-pseudonyms.ts';
import { readJsonObject } from '../request/json-body.ts';
import { onRepository, REPOSITORY_PATH } from '../request/repository.ts';
import { serviceAddress } from '../request/public-origin.ts';
import { type IssueAnswer, issueRequest } from '../schemas/issues.ts';
import { isBlank, payloadProblem } from '../schemas/text.ts';
import { beginPosting } from './posting.ts';
import { refuseWithoutBot, writeRefusal } from '../request/write-refusal.ts';

export const issues = new Hono<AppEnv>();

issues.post(`${REPOSITORY_PATH}/issues/anonymous`, onRepository(createIssue));

async function createIssue(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const payload = await readJsonObject(c);
  if (payload.kind === 'invalid') return c.json({ error: 'invalid payload' }, 400);
  if (isBlank(payload.value['title']) || isBlank(payload.value['body'])) {
    return c.json({ error: 'title and body are required' }, 400);
  }
  const parsed = issueRequest.safeParse(payload.value);
  if (!parsed.success) return c.json({ error: payloadProblem(parsed.error) }, 400);
  const { title, body, labels } = parsed.data;
  const text = issueText(body, serviceAddress(c.req.raw, c.var.config));
  const excess = characters(text) - MAX_TEXT_CHARACTERS;
  if (excess > 0) {
    return c.json({ error: `body must have at most ${characters(body) - excess} characters` }, 400);
  }
  const problem = footerProblem(body);
  if (problem !== null) return c.json({ error: problem }, 400);

  const posting = refuseWithoutBot(c) ?? (await beginPosting(c, target, 'issues'));
  if (posting instanceof Response) return posting;

  // Done first: once the issue exists, nothing may fail any more.
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const created = await create(c, target, { title, body: text, labels: labels ?? [] });
  if ('kind' in created) {
    // Without an answer of the host it may be there.
    if (created.kind !== 'unreachable') posting.cancel();
    return writeRefusal(c, 'issue', created);
  }
  const { url, number } = created;
  const userToken = newUserToken();
  const hash = identityHash(secret, `${recordName(c.var.host, target)}#${number}`, userToken);
  // The issue is there in any case. Its author enters the list with their first comment otherwise.
  await listPseudonym(c.env.DB, hash).catch((error: unknown) =>
    c.var.logger.warn('the list of pseudonyms does not answer', { error }),
  );
  return c.json<IssueAnswer>({
    issue_url: url,
    number,
    hash,
    karma: 0,
    user_token: userToken,
    issue_reply_token: userToken,
  });
}

async function create(
  c: Context<AppEnv>,
  target: RepositoryName,
  issue: NewIssue,
): Promise<{ url: string; number: number } | WriteFailure> {
  const { config, host, http } = c.var;
  const threads = openThreads(openHostAccess(c.env, config, host, http));
  try {
    return await threads.createIssue(target, issue);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return writeFailure(error);
  }
}
