/**
 * The conversation on a thread, which is kept for a minute, in memory only. The answer is shared
 * and not its promise, because a promise belongs to one request.
 * Proved by test/e2e/people/conversation.test.ts.
 */
import type { Context } from 'hono';
import { type HostConfig, hostNameOf, recordName } from '../../config/hosts.ts';
import { botLogin, openHostAccess } from '../../host-access.ts';
import type { AppEnv } from '../../env.ts';
import type { Conversation, ThreadComment } from '../../host/code-host.ts';
import { openActivity } from '../../host/open.ts';
import { hostFailureOf } from '../../words/host-error.ts';
import { Recent } from '../../isolate/recent.ts';
import { within } from '../../isolate/within.ts';
import {
  CONTRIBUTOR,
  plainText,
  type ShownConversation,
  type SignedComment,
  type SignedConversation,
} from '../../pages/conversation.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { NO_WAIT } from '../../limits/sliding-window.ts';
import { limitsOf, tooMany } from '../../service/limits.ts';
import { splitFooter } from '../../text/footer.ts';
import { sentence } from '../../words/sentence.ts';
import { hostScopeOf, scopeOf } from './scope.ts';

/** Short, because the rest of the page can be shown without the conversation. */
const PATIENCE_MS = 5_000;
/** Shorter, because the conversation is worth showing without the names of our accounts. */
const OWN_PATIENCE_MS = 1_000;

/**
 * The conversations of the last minute, with room for some forty long ones. A character counts as
 * two bytes, which it takes unless all of its text is Latin.
 */
const recent = new Recent<SignedConversation>({
  lifeMs: 60_000,
  most: 8 * 1024 * 1024,
  weightOf: ({ comments, description }) =>
    comments.reduce((sum, { text }) => sum + 2 * text.length, 1_000 + 2 * (description?.text.length ?? 0)),
});

/** The conversation if it was read within the last minute; else null. Asks nobody. */
export function knownConversation(
  host: HostConfig,
  repository: RepositoryName,
  number: number,
): ShownConversation | null {
  const conversation = recent.get(keyOf(host, repository, number));
  return conversation === null ? null : { kind: 'shown', conversation };
}

/** Drops what was read, because this service has posted there since. */
export function forgetConversation(host: HostConfig, repository: RepositoryName, number: number): void {
  recent.delete(keyOf(host, repository, number));
}

/** Reads the conversation, or says why it cannot. Never rejects. */
export async function conversationOf(
  c: Context<AppEnv>,
  host: HostConfig,
  repository: RepositoryName,
  number: number,
): Promise<ShownConversation> {
  const known = knownConversation(host, repository, number);
  if (known !== null) return known;
  if (host.token === null) return unknown('This service has no bot account that could read it.');
  const noCalls = await noCallsLeft(c);
  if (noCalls !== null) return noCalls;
  try {
    const scope = hostScopeOf(c, host);
    const activity = openActivity(openHostAccess(scope), () => {});
    const asked = [botLogin(scope, true), appLogin(activity)];
    const [found, ...own] = await within(
      PATIENCE_MS,
      Promise.all([
        activity.conversation(repository, number),
        // Without its name, no text of an account is marked.
        ...asked.map((name) => within(OWN_PATIENCE_MS, name).catch(() => null)),
      ]),
    );
    if (found === null) return { kind: 'missing' };
    if ('movedTo' in found) return { kind: 'moved', to: found.movedTo };
    const conversation = signed(found, own);
    recent.set(keyOf(host, repository, number), conversation);
    return { kind: 'shown', conversation };
  } catch (error) {
    // Reading it may have used up the last ones.
    const used = await noCallsLeft(c);
    if (used !== null) return used;
    c.var.logger.warn('a conversation could not be read', { error });
    const { lasts, says, status } = hostFailureOf(error);
    const isFinal = lasts === 'final';
    const why = isFinal
      ? `refuses to show it to this service: ${says || status}.`
      : 'does not answer now. Reload this page in a minute.';
    return unknown(`${hostNameOf(host)} ${why}`);
  }
}

/**
 * Tells apart what this service has posted, and cuts the texts: only the beginning is ever shown.
 * @param own names of the bot's account and of the App's. Others may write a footer, too.
 */
function signed(found: Conversation, own: readonly (string | null)[]): SignedConversation {
  const sign = (comment: ThreadComment, postedAs: string | null): SignedComment => ({
    ...comment,
    text: plainText(comment.text),
    postedAs: comment.author !== null && own.includes(comment.author) ? postedAs : null,
  });
  return {
    ...found,
    description: found.description && sign(found.description, CONTRIBUTOR),
    comments: found.comments.map((comment) => sign(comment, pseudonymIn(comment))),
  };
}

/** Names the account in whose name the App writes; null: the service has no App. */
async function appLogin(activity: ReturnType<typeof openActivity>): Promise<string | null> {
  return (await activity.appAccount())?.login ?? null;
}

function pseudonymIn({ text }: ThreadComment): string | null {
  const hash = splitFooter(text)?.hash;
  return hash === undefined ? null : `anon-${hash}`;
}

/** Tells a client without calls when it has some. Null: it has some now, or nobody knows. */
async function noCallsLeft(c: Context<AppEnv>): Promise<ShownConversation | null> {
  const asked = limitsOf(scopeOf(c)).known('calls');
  const wait = await asked.catch(() => NO_WAIT);
  return wait.waitMs > 0 ? unknown(sentence(tooMany(c.var.config, 'calls', wait))) : null;
}

const keyOf = (host: HostConfig, repository: RepositoryName, number: number): string =>
  `${recordName(host, repository)}#${number}`.toLowerCase();

const unknown = (why: string): ShownConversation => ({ kind: 'unknown', why });
