/**
 * Opens issues: the JSON endpoint (contract, 4.3), and the functions that the form shares with it.
 * The token in the answer identifies the author on the new thread.
 */
import { waitUntil } from 'cloudflare:workers';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import { accountLimits } from '../../config/config.ts';
import { openHostAccess, payerIn } from '../../host-access.ts';
import type { AppEnv } from '../../env.ts';
import type { NewIssue } from '../../host/code-host.ts';
import { HostError } from '../../words/host-error.ts';
import { openThreads } from '../../host/open.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { openingIn, quotaNamesOf, writeClaim } from '../../limits/claim.ts';
import { guardOf } from '../../objects.ts';
import { INVALID_NAME, type RepositoryName } from '../../words/repository-name.ts';
import { listPseudonym } from '../../stats/recorded-hashes.ts';
import { characters, issueText, MAX_TEXT_CHARACTERS } from '../../text/footer.ts';
import { FENCE_IS_OPEN, footerProblem, titleProblem } from '../../text/footer-room.ts';
import { readMarkdown } from '../../text/markdown.ts';
import { noiseProblem } from '../../text/noise.ts';
import { answer, asJson, described, error, repositoryParams } from '../description.ts';
import { clientOf } from '../../service/scope.ts';
import { creationLimitsOf, targetOf } from '../../service/limits.ts';
import { refusedToPost, refusePost } from '../request/limits.ts';
import { checkPayload, isBlankText, publicText, readJsonObject } from '../request/payload.ts';
import { publishedAddress } from '../request/public-origin.ts';
import { invalidField, type Refused, writeRefusal } from '../request/refused.ts';
import {
  idempotencyHeader,
  onPost,
  POST_FAULTS,
  postOnce,
  type PostOutcome,
  pseudonymOn,
  sentRequest,
} from './posting.ts';
import { hostScopeOf } from '../request/scope.ts';

const MAX_TITLE_CHARACTERS = 256;

const issueRequest = z.object({
  title: publicText('title')
    .refine((title) => characters(title.trim()) <= MAX_TITLE_CHARACTERS, {
      error: `title must have at most ${MAX_TITLE_CHARACTERS} characters`,
    })
    .meta({ description: 'More than white space.' }),
  body: publicText('body').meta({ description: 'Markdown; more than white space.' }),
  labels: z.array(publicText('labels')).nullish().meta({
    description:
      'Names of labels that the repository has. The host leaves out others, and all of them where the bot may not set labels, as on GitHub, unless the repository has given it the right.',
  }),
});

const issueAnswer = z
  .object({
    issue_url: z.url().meta({ description: 'The new issue.' }),
    number: z.int().min(1).meta({ description: 'Its number.' }),
    hash: z.string().meta({ description: "The author's pseudonym on this thread.", examples: ['1a2b3c4d'] }),
    karma: z.literal(0).meta({ description: 'Karma begins at 0.' }),
    user_token: z
      .string()
      .meta({ description: 'Send it to write under the same pseudonym again. Nobody can recover it.' }),
    issue_reply_token: z.string().meta({ description: 'The same token, for comments on the issue.' }),
  })
  .meta({ description: 'An issue was created.' });

export const issues = new Hono<AppEnv>();

issues.post(
  `${REPOSITORY_PATH}/issues/anonymous`,
  described(onPost(answerIssue), {
    operationId: 'createIssue',
    summary: 'Create an issue',
    description: 'The bot creates the issue. Use the token in the answer to comment on it as its author.',
    tag: 'Comments and issues',
    path: repositoryParams,
    header: idempotencyHeader,
    json: issueRequest,
    responses: {
      200: answer('The issue was created.', asJson(issueAnswer)),
      400: error(
        'The request is not valid, or the code host refused it.',
        ['title and body are required', 'invalid-field'],
        ['invalid payload', 'invalid-payload'],
        INVALID_NAME,
        [FENCE_IS_OPEN, 'invalid-field'],
        ['failed to create issue: 404 Not Found', 'not-created'],
      ),
      403: error('The repository accepts no anonymous issues, or a page of another site must not send this.'),
      429: error(
        'The client or all clients together have posted too much, or little is left to the bot account. Retry-After says how long to wait.',
      ),
      ...POST_FAULTS,
    },
  }),
);

async function answerIssue(
  c: Context<AppEnv>,
  repository: RepositoryName,
  memory: MemoryHold,
): Promise<Response | Refused> {
  const payload = await readJsonObject(c, memory);
  if (payload.kind === 'refused') return payload;
  const request = await sentRequest(c, payload.fields);
  if (request.kind === 'refused') return request;
  const checked = await checkIssue(c, repository, payload.fields);
  if (checked.kind === 'refused') return checked;
  const { userToken } = request;
  const outcome = await postOnce(c, repository, 'issues', request, (limits) =>
    createIssue(c, repository, checked.issue, userToken, limits),
  );
  if (outcome.kind === 'refused') return outcome;
  const { url, number } = outcome.posted;
  const hash = await pseudonymOn(c, repository, number, userToken);
  return c.json<z.infer<typeof issueAnswer>>({
    issue_url: url,
    number,
    hash,
    karma: 0,
    user_token: userToken,
    issue_reply_token: userToken,
  });
}

/**
 * Checks whether the text may be posted, and gives the issue with its footer. Counts an attempt
 * before Markdown is read, because a text that is refused costs as much to read.
 */
export async function checkIssue(
  c: Context<AppEnv>,
  repository: RepositoryName,
  payload: Readonly<Record<string, unknown>>,
): Promise<{ readonly kind: 'issue'; readonly issue: NewIssue } | Refused> {
  const texts = { title: payload['title'] ?? '', body: payload['body'] ?? '' };
  const checked = checkPayload(issueRequest, { ...payload, ...texts });
  if (checked.kind === 'refused') return checked;
  const { title, body, labels } = checked.fields;
  if (isBlankText(title) || isBlankText(body)) return invalidField('title and body are required');
  const text = issueText(body, publishedAddress(c.req.raw, c.var.config));
  const excess = characters(text) - MAX_TEXT_CHARACTERS;
  if (excess > 0) return invalidField(`body must have at most ${characters(body) - excess} characters`);
  const tooMany = await refusePost(c);
  if (tooMany !== null) return tooMany;
  const read = { title: readMarkdown(title), body: readMarkdown(body) };
  const where = { hostUrl: c.var.host.url, repository };
  const problem = titleProblem(title) ?? footerProblem(read.body) ?? noiseProblem(read, where);
  if (problem !== null) return invalidField(problem);
  return { kind: 'issue', issue: { title, body: text, labels: labels ?? [] } };
}

/**
 * Creates an issue, as `post` of `postOnce`.
 * @param userToken the author's.
 * @param policyLimits those of the repository's policy.
 */
export async function createIssue(
  c: Context<AppEnv>,
  repository: RepositoryName,
  issue: NewIssue,
  userToken: string,
  policyLimits: readonly Limit[],
): Promise<PostOutcome> {
  const { config, host, logger } = c.var;
  const scope = hostScopeOf(c);
  const opening = await targetOf(scope, repository, null, policyLimits);
  const claim = writeClaim(quotaNamesOf(await clientOf(scope)));
  const payer = await payerIn(scope, repository);
  const grant = await creationLimitsOf(scope, payer).reserve(
    openingIn(opening, accountLimits(config, host), claim),
  );
  if (grant.kind === 'denied') return refusedToPost(c, grant, opening);

  const created = await openThreads(openHostAccess(scope))
    .createIssue(repository, issue)
    .catch((cause: unknown) => {
      if (!(cause instanceof HostError)) throw cause;
      return cause.failure;
    });
  if ('effect' in created) {
    // Without an answer of the host, the issue may exist, so its place in the limits stays taken.
    if (created.effect === 'none') waitUntil(grant.release());
    return writeRefusal(c, 'issue', created);
  }
  const { url, number, app = null } = created;
  const { owner, name: repo } = repository;
  const place = { kind: 'issue', host: host.key, owner, repo, number, url, app } as const;
  const track = () => guardOf(c.env).track(place, null, Date.now());
  // This cannot fail, because the secret was read for the limits.
  const hash = await pseudonymOn(c, repository, number, userToken);
  // The issue exists in any case. If the list fails, the first comment adds the author to it.
  await Promise.all([
    listPseudonym(c.env.DB, hash).catch((cause: unknown) =>
      logger.warn('the list of pseudonyms does not answer', { error: cause }),
    ),
    // It is tried twice, because an object that is just restarting is back at once.
    track()
      .catch(track)
      .catch((cause: unknown) => logger.error('no rollback will close an issue', { error: cause })),
  ]);
  return { kind: 'posted', posted: { url, number, karma: 0 } };
}
