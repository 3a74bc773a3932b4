/**
 * The posts of forms and programs, so that each is posted once. One that is sent again, by a double
 * click or a program that got no answer, gets the first answer. A post is stored before the host is
 * asked, for as long as a form is valid.
 * Proved by test/durable/host-account/host-account.test.ts.
 */
import { isAhead } from '../../isolate/clock.ts';
import { FORM_LIFE_MS } from '../../secret/form-token.ts';

const POST = 'post ';

/** Longer than posting usually takes. A request that is silent for longer has died. */
const SENDING_MS = 60_000;

/** Keyed hashes, from which nothing of what was written can be found out. */
export interface PostName {
  /** The hash of the form, or of the request's key. */
  readonly name: string;
  /** The hash of what it posts. */
  readonly content: string;
}

interface Posted {
  readonly url: string;
  /** The number of the thread. */
  readonly number: number;
  /** The author's karma on that thread, after the post. */
  readonly karma: number;
}

/**
 * `new`: it was not sent before, so the caller may post it now. `sending`: another request is
 * posting it. `unknown`: it was sent, and nobody knows whether the host has posted it. `sent`: the
 * host has it, and nothing of its answer is kept. `other`: something else was sent under this name.
 */
export type PostStanding = { readonly kind: 'new' | 'sending' | 'unknown' | 'sent' | 'other' } | PostedOnce;
export type PostResult = { readonly kind: 'new' | 'unknown' | 'sent' } | PostedOnce;
type PostedOnce = { readonly kind: 'posted'; readonly posted: Posted };

interface SentPost {
  readonly content: string;
  /** The time until which it is valid, in milliseconds since 1970, as everywhere. */
  readonly until: number;
  readonly sendingUntil: number;
  readonly posted: Posted | null;
  /** Set for a private report that the host has. Rows of earlier versions lack it. */
  readonly isSent?: boolean;
}

export class Posts {
  readonly #kv: DurableObjectStorage['kv'];

  constructor(kv: DurableObjectStorage['kv']) {
    this.#kv = kv;
  }

  begin({ name, content }: PostName, now: number): PostStanding {
    const sent = this.#kv.get<SentPost>(POST + name);
    if (sent === undefined) {
      const [until, sendingUntil] = [now + FORM_LIFE_MS, now + SENDING_MS];
      this.#kv.put(POST + name, { content, until, sendingUntil, posted: null } satisfies SentPost);
      return { kind: 'new' };
    }
    const { posted, sendingUntil, isSent } = sent;
    if (sent.content !== content) return { kind: 'other' };
    if (posted !== null) return { kind: 'posted', posted };
    if (isSent === true) return { kind: 'sent' };
    // After a clock was set back, nobody waits for longer either.
    return { kind: isAhead(sendingUntil, SENDING_MS, now) ? 'sending' : 'unknown' };
  }

  /** @param result `new`: nothing was posted, and it may be sent again. */
  end(name: string, result: PostResult): void {
    const sent = this.#kv.get<SentPost>(POST + name);
    if (sent === undefined) return;
    const posted = result.kind === 'posted' ? result.posted : null;
    if (result.kind === 'new') this.#kv.delete(POST + name);
    else {
      const isSent = result.kind === 'sent' && { isSent: true };
      this.#kv.put(POST + name, { ...sent, sendingUntil: 0, posted, ...isSent });
    }
  }

  /** The rows of posts whose form is still valid. */
  valid(now: number): readonly (readonly [string, SentPost])[] {
    return [...this.#kv.list<SentPost>({ prefix: POST })].filter(([, { until }]) => until > now);
  }
}
