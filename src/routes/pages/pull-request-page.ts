/**
 * Serves /v1/pr/<hash> and its feed (`.atom`) for the author. They contain only what the host and
 * pushes report; to the topic, in contrast, anyone can post.
 */
import { type Context, Hono } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import * as z from 'zod';
import { type HostConfig, hostWithKey } from '../../config/hosts.ts';
import { HISTORY_KINDS } from '../../durable/pull-request/history.ts';
import type { PullRequestView } from '../../durable/pull-request/pull-request.ts';
import type { AppEnv } from '../../env.ts';
import { eventsOf, type OwnAccounts } from '../../events/host-event.ts';
import { pullRequestOf, readFrom } from '../../objects.ts';
import type { Conversation, ThreadComment } from '../../host/code-host.ts';
import { plainText, type ShownConversation } from '../../pages/conversation.ts';
import { ATOM_TYPE, atomFeed } from '../../pages/atom-feed.ts';
import { askedOptions } from '../../pages/commands.ts';
import { pullRequestPage, pullRequestPageText } from '../../pages/pull-request-page.ts';
import { isoTime } from '../../pages/layout.ts';
import type { KnownPolicy } from '../../policy/policies.ts';
import { muteRefusal, OPEN_POLICY, type Policy, policyRefusal } from '../../policy/policy.ts';
import { within } from '../../isolate/within.ts';
import { mayBeRecorded } from '../../stats/recorded-hashes.ts';
import { answerPage, preferredType } from './answer-page.ts';
import { conversationOf } from '../request/conversation.ts';
import { keptFor, shownOrigin } from '../request/public-origin.ts';
import { answerRefused, explained } from '../request/refused.ts';
import { lookUp } from '../request/limits.ts';
import { knownPolicy } from '../request/reading.ts';
import { isForOtherSite } from '../request/scope.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { answer, as, asError, asJson, described, HTML, TEXT } from '../description.ts';

/** How long clients may cache it: the service learns of events at the host once a minute. */
const KEPT_SECONDS = 60;
/** How long a page waits for a code host that may not show the pull request yet. */
const LOOK_PATIENCE_MS = 5_000;
/** Short, because the policy only adds options to commands, and is judged with each push. */
const POLICY_PATIENCE_MS = 1_500;

const NOT_CONNECTED: ShownConversation = { kind: 'unknown', why: 'Its code host is no longer connected.' };
const NOT_FOR_OTHERS: ShownConversation = {
  kind: 'unknown',
  why: 'Pages of other sites cannot read it here.',
};
const UNKNOWN = explained(
  404,
  'No such pull request',
  'This service has recorded no pull request with this hash, or the code host does not show it yet. The answer to the push shows the right one.',
  // A push in progress may be about to record it.
  { 'Cache-Control': 'no-store' },
);

const pullRequestPageParams = z.object({
  hash: z
    .string()
    .toLowerCase()
    .regex(/^[0-9a-f]{8,40}(?:\.atom)?$/)
    .meta({ description: 'The hash that the push has shown; with `.atom` behind it, the feed.' }),
});

const at = z.iso.datetime();
const pullRequestAnswer = z
  .object({
    hash: z.string(),
    state: z.enum(['open', 'merged', 'closed', 'withdrawn']),
    url: z.string().meta({ description: 'The pull request.' }),
    title: z.string().nullable().meta({ description: 'Null: it cannot be read, as `comments`.' }),
    events: z.array(z.object({ kind: z.enum(HISTORY_KINDS), at, url: z.string() })),
    comments: z
      .array(z.object({ author: z.string().nullable(), at, path: z.string().nullable(), text: z.string() }))
      .optional()
      .meta({
        description:
          'What people wrote, newest first, cut; missing: it cannot be read now, or a page of another site asks.',
      }),
  })
  .meta({ description: 'What is known of a pull request.' });

export const pullRequestPageRoute = new Hono<AppEnv>();

// A 304 must have the policy of the page, or a browser shows its copy without style.
const withEtag = etag({ retainedHeaders: [...RETAINED_304_HEADERS, 'content-security-policy'] });

pullRequestPageRoute.get(
  '/v1/pr/:hash',
  withEtag,
  described(showPullRequest, {
    operationId: 'showPullRequest',
    summary: 'The state of a pull request',
    description:
      'State, link, events, what people wrote, and how to update and withdraw it: a page in a browser, lines in a terminal, JSON for `Accept: application/json`, and an Atom feed behind `.atom`. Unlike a topic, nobody else can write to it.',
    tag: 'Service',
    path: pullRequestPageParams,
    responses: {
      200: answer('The page or feed.', asJson(pullRequestAnswer), as(HTML, TEXT, 'application/atom+xml')),
      404: answer('None has this hash.', asError('no such pull request'), as(HTML, TEXT)),
      429: answer('The client has asked for too many unknown hashes. Wait for Retry-After.', as(TEXT)),
    },
  }),
);

async function showPullRequest(c: Context<AppEnv>): Promise<Response> {
  const { config } = c.var;
  const params = pullRequestPageParams.safeParse(c.req.param());
  if (!params.success) return unknown(c, false);
  const [hash = '', suffix] = params.data.hash.split('.');
  const isForProgram = suffix !== undefined;
  const found = await lookUp(c, () => viewOf(c, hash));
  if (found instanceof Response) return found;
  if (found === null) return unknown(c, isForProgram);
  const origin = shownOrigin(c.req.raw, config);
  const kept = { 'Cache-Control': keptFor(KEPT_SECONDS, c.req.raw, config) };
  if (isForProgram) return c.body(atomFeed(found, origin), 200, { 'Content-Type': ATOM_TYPE, ...kept });
  const repository = { owner: found.owner, name: found.repo };
  const [conversation, policy] = await readAtHost(c, found);
  const read = conversation.kind === 'shown' ? conversation.conversation : null;
  const pullRequest = await endedBy(c, found, read);
  // The reason why it cannot be read may concern this client alone.
  const isPartial = conversation.kind === 'unknown' || policy === undefined;
  const cached = isPartial ? { 'Cache-Control': 'no-store' } : kept;
  const headers = { ...cached, Vary: 'Accept' };
  const type = typeFor(c);
  if (type === 'application/json') {
    const { state, url } = pullRequest;
    const events = pullRequest.events.map((event) => {
      return { kind: event.kind, at: isoTime(event.at), url: event.url || url };
    });
    const said = { title: read && plainText(read.title), events, comments: read ? textsOf(read) : undefined };
    return c.json<z.infer<typeof pullRequestAnswer>>({ hash, state, url, ...said }, 200, headers);
  }
  const known = policy ?? OPEN_POLICY;
  const asked = askedOptions(known, pullRequest.state !== 'open');
  const closed = updateRefusal(known, repository, pullRequest);
  const needsKey = config.prUpdatePolicy === 'key';
  const takesReplies = replyRefusal(known, repository, pullRequest) === null;
  const page = { pullRequest, origin, needsKey, asked, closed, takesReplies, conversation };
  return type === 'text/plain'
    ? c.text(pullRequestPageText(page), 200, headers)
    : answerPage(c, pullRequestPage(page), 200, headers);
}

/**
 * Reads what the code host has, which takes calls of the client's. A page of another site must not
 * spend those of its readers.
 */
async function readAtHost(
  c: Context<AppEnv>,
  { host: key, owner, repo: name, number }: PullRequestView,
): Promise<readonly [ShownConversation, KnownPolicy]> {
  const host = hostWithKey(c.var.config, key);
  if (host === undefined) return [NOT_CONNECTED, null];
  if (isForOtherSite(c)) return [NOT_FOR_OTHERS, undefined];
  const repository = { owner, name };
  return Promise.all([conversationOf(c, host, repository, number), policyOf(c, host, repository)]);
}

/** Lists what people wrote, the newest first, and the description last. */
function textsOf({ comments, description }: Conversation): ThreadComment[] {
  const all = description === null ? comments : [...comments, description];
  return all.map(({ author, at: saidAt, path, text }) => {
    return { author, at: saidAt, path: path && plainText(path), text };
  });
}

/** The policy of the repository; undefined if it is not known in time. Never rejects. */
function policyOf(c: Context<AppEnv>, host: HostConfig, repository: RepositoryName): Promise<KnownPolicy> {
  return within(POLICY_PATIENCE_MS, knownPolicy(c, repository, host)).catch(() => undefined);
}

/** Says why a push that names the pull request would be refused, as the push itself does. */
function updateRefusal(
  policy: Policy,
  repository: RepositoryName,
  { state, number }: PullRequestView,
): string | null {
  const refusal = policyRefusal(policy, repository, 'pull_requests');
  return refusal ?? (state === 'open' ? muteRefusal(policy, repository, number) : null);
}

/** Says why a reply would be refused, as the reply itself does. */
function replyRefusal(
  policy: Policy,
  repository: RepositoryName,
  { number }: PullRequestView,
): string | null {
  return policyRefusal(policy, repository, 'comments') ?? muteRefusal(policy, repository, number);
}

/** No remark is read here, so no account's counts. */
const NOBODY: OwnAccounts = new Set();

/** Shows and records an end that was just read, because the feed may be minutes behind. */
async function endedBy(
  c: Context<AppEnv>,
  pullRequest: PullRequestView,
  read: Conversation | null,
): Promise<PullRequestView> {
  if (pullRequest.state !== 'open' || read === null || read.state === 'open') return pullRequest;
  const { prHash, host, number, url } = pullRequest;
  const { state, closedAt } = read;
  const mergedAt = state === 'merged' ? (closedAt ?? '') : null;
  const events = eventsOf({ number, url, mergedAt, closedAt }, [], NOBODY);
  const object = pullRequestOf(c.env, prHash);
  await object.tell(host, events, Date.now()).catch((error: unknown) => {
    c.var.logger.warn('what a page has read could not be recorded', { error });
  });
  // If the object fails, the page shows what it has already.
  return (await object.view().catch(() => null)) ?? pullRequest;
}

/**
 * Finds a pull request; null if the code host shows none yet. The object of a hash that no push has
 * recorded is only asked if the list of hashes does not answer.
 */
async function viewOf(c: Context<AppEnv>, hash: string): Promise<PullRequestView | null> {
  if (!(await mayBeRecorded(c.env.DB, hash, c.var.logger))) return null;
  const object = pullRequestOf(c.env, hash);
  let view = await readFrom(() => object.view());
  if (view?.isShown === false) {
    // Looks at the host now, so that whoever has just pushed need not wait for the object to do it.
    // Without an answer in time, the page says that there is no such pull request yet.
    await within(LOOK_PATIENCE_MS, object.askHost()).catch(() => {});
    view = await readFrom(() => object.view());
  }
  return view?.isShown ? view : null;
}

function unknown(c: Context<AppEnv>, isForProgram: boolean): Response | Promise<Response> {
  const type = typeFor(c);
  if (type === 'application/json') return answerRefused(c, { ...UNKNOWN, error: 'no such pull request' });
  return answerRefused(c, UNKNOWN, isForProgram || type === 'text/plain' ? 'text' : 'page');
}

function typeFor(c: Context<AppEnv>) {
  return preferredType(c, ['text/html', 'text/plain', 'application/json'], 'text/plain');
}
