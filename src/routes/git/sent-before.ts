/**
 * Recognises a push by its `Idempotency-Key`, so that a program that got no answer sends it again
 * and gets the same one. The key, all that was sent, and the client's network decide the names of
 * what it opens, as a form's token does; so nothing is stored. The answer has the pull request's
 * key, so a guessed key must not be enough: the original ids may be public.
 * Proved by test/routes/git/sent-before.test.ts and test/e2e/push/bundle.test.ts.
 */
import type { Context } from 'hono';
import type * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import type { PullRequestView } from '../../durable/pull-request/pull-request.ts';
import { pullRequestOf } from '../../objects.ts';
import type { PushRun } from '../../push/push-run.ts';
import { keyLines } from '../../push/reply/banner.ts';
import { prKeyOf } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import type { PushOpening } from '../../service/open-push.ts';
import { clientOf } from '../../service/scope.ts';
import { mayBeRecorded } from '../../stats/recorded-hashes.ts';
import { formSecrets } from '../request/form-fields.ts';
import { scopeOf } from '../request/scope.ts';
import type { pushedAnswer } from './door-answer.ts';

export type PushedAnswer = z.infer<typeof pushedAnswer>;

/** A name holds for this time, and is looked for as long again: a day in all. */
const WINDOW_MS = 12 * 60 * 60 * 1000;

export interface SentNames {
  readonly prHash: string;
  readonly delayed: string;
}

/**
 * The names of what a request opens, and before them those that it had in the window before.
 * @param sent names the client and everything that it has sent.
 * @param now milliseconds since 1970.
 */
export function namesAt(secret: string, key: string, sent: readonly string[], now: number): SentNames[] {
  const window = Math.floor(now / WINDOW_MS);
  return [window - 1, window].map((each) => {
    const secrets = formSecrets(secret, { text: `Idempotency-Key ${key}` }, [`${each}`, ...sent]);
    const hash = secrets('hash').slice(0, 12);
    // The hash needs a letter, as in newPrHash.
    const prHash = /[a-f]/.test(hash) ? hash : `a${hash.slice(1)}`;
    return { prHash, delayed: secrets('delayed').slice(0, 32) };
  });
}

/** A request with a key, whose names are known once all of it has arrived. */
export class KeyedRequest {
  readonly names: Required<Pick<PushOpening, 'newPrHash' | 'newDelayedName'>> = {
    newPrHash: () => this.#arrived().prHash,
    newDelayedName: () => this.#arrived().delayed,
  };
  readonly #c: Context<AppEnv>;
  readonly #key: string;
  #names: SentNames | null = null;

  constructor(c: Context<AppEnv>, key: string) {
    this.#c = c;
    this.#key = key;
  }

  /**
   * The answer if it has opened its pull request before; null: it has not.
   * @param content names everything that was sent; the repository is in the path.
   */
  async openedBefore({ settings }: PushRun, content: readonly string[]): Promise<PushedAnswer | null> {
    const { env, var: known, req } = this.#c;
    const secret = await serviceSecret(env, known.config.identitySecret);
    const client = (await clientOf(scopeOf(this.#c))).prefixHash('attempt', this.#key);
    const both = namesAt(secret, this.#key, [client, req.path, ...content], Date.now());
    this.#names = both.at(-1) ?? null;
    for (const { prHash } of both) {
      const pullRequest = await recorded(this.#c, prHash);
      if (pullRequest !== null)
        return answerAgain(pullRequest, prKeyOf(secret, prHash), settings.pageUrl(prHash));
    }
    return null;
  }

  #arrived(): SentNames {
    if (this.#names === null) throw new Error('nothing is published before all has arrived');
    return this.#names;
  }
}

async function recorded({ env, var: { logger } }: Context<AppEnv>, prHash: string) {
  return (await mayBeRecorded(env.DB, prHash, logger)) ? pullRequestOf(env, prHash).view() : null;
}

function answerAgain({ prHash, url, state }: PullRequestView, key: string, page: string): PushedAnswer {
  const lines = [
    ...keyLines(prHash, key),
    `You have sent this before. Your pull request is ${state}.`,
    `  PR URL:   ${url}`,
    `  PR hash:  ${prHash}`,
    `  Page:     ${page}`,
  ];
  return { state: 'opened', pr_url: url, pr_hash: prHash, pr_key: key, page, lines, findings: [] };
}
