/**
 * Creates an anonymous issue, for the JSON endpoint and for the form: the same checks, in the same order. The bot
 * creates it. After that, an issue is a thread like any other; the token in the answer identifies its author there.
 */
import type { Context } from 'hono';
import { recordName } from '../../config/hosts.ts';
import { openHostAccess } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import type { NewIssue } from '../../host/code-host.ts';
import { HostError } from '../../host/host-error.ts';
import { openThreads } from '../../host/open.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { type WriteFailure, writeFailure } from '../../host/write-failure.ts';
import { characters, issueText, MAX_TEXT_CHARACTERS } from '../../identity/footer.ts';
import { footerProblem } from '../../identity/footer-room.ts';
import { identityHash } from '../../identity/keyed-hash.ts';
import { serviceSecret } from '../../identity/service-secret.ts';
import { newUserToken } from '../../identity/user-token.ts';
import { listPseudonym } from '../../stats/listed-pseudonyms.ts';
import { serviceAddress } from '../request/public-origin.ts';
import { type Refused, refused } from '../request/refused.ts';
import { refuseWithoutBot, writeRefusal } from '../request/write-refusal.ts';
import { type IssueAnswer, issueRequest } from '../schemas/issues.ts';
import { isBlank, payloadProblem } from '../schemas/text.ts';
import { beginPosting } from './posting.ts';

/**
 * What can be said of an issue without asking anyone; `issue` has the text as it will stand.
 * @param payload the fields of the JSON endpoint.
 */
export function checkIssue(
  c: Context<AppEnv>,
  payload: Readonly<Record<string, unknown>>,
): { readonly kind: 'issue'; readonly issue: NewIssue } | Refused {
  if (isBlank(payload['title']) || isBlank(payload['body'])) {
    return refused(400, 'title and body are required');
  }
  const parsed = issueRequest.safeParse(payload);
  if (!parsed.success) return refused(400, payloadProblem(parsed.error));
  const { title, body, labels } = parsed.data;
  const text = issueText(body, serviceAddress(c.req.raw, c.var.config));
  const excess = characters(text) - MAX_TEXT_CHARACTERS;
  if (excess > 0) return refused(400, `body must have at most ${characters(body) - excess} characters`);
  const problem = footerProblem(body);
  if (problem !== null) return refused(400, problem);
  return { kind: 'issue', issue: { title, body: text, labels: labels ?? [] } };
}

/** @param payload as `checkIssue` takes it. @param userToken of its author. */
export async function createIssue(
  c: Context<AppEnv>,
  target: RepositoryName,
  payload: Readonly<Record<string, unknown>>,
  userToken = newUserToken(),
): Promise<{ readonly kind: 'created'; readonly answer: IssueAnswer } | Refused> {
  const checked = checkIssue(c, payload);
  if (checked.kind === 'refused') return checked;
  const posting = refuseWithoutBot(c) ?? (await beginPosting(c, target, 'issues'));
  if (posting.kind === 'refused') return posting;

  // Done first: once the issue exists, nothing may fail any more.
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const created = await create(c, target, checked.issue);
  if ('kind' in created) {
    // Without an answer of the host it may be there.
    if (created.kind !== 'unreachable') posting.cancel();
    return writeRefusal(c, 'issue', created);
  }
  const { url, number } = created;
  const hash = identityHash(secret, `${recordName(c.var.host, target)}#${number}`, userToken);
  // The issue is there in any case. Its author enters the list with their first comment otherwise.
  await listPseudonym(c.env.DB, hash).catch((error: unknown) =>
    c.var.logger.warn('the list of pseudonyms does not answer', { error }),
  );
  return {
    kind: 'created',
    answer: {
      issue_url: url,
      number,
      hash,
      karma: 0,
      user_token: userToken,
      issue_reply_token: userToken,
    },
  };
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
