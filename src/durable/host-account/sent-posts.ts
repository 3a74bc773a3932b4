/**
 * The forms and requests that were to post an issue or a comment, so that each posts once: one that is sent again, by a
 * double click or by a program that got no answer, gets the answer of the first time.
 *
 * A post is stored before the host is asked, so that a restart does not forget it. Cost: two writes for each; a row lasts
 * for a day, as long as a form is valid.
 */
import { FORM_LIFE_MS } from '../../secret/form-token.ts';
import { isAhead } from '../../isolate/clock.ts';

/** Longer than posting usually takes. One that is silent for longer has died with its request. */
const SENDING_MS = 60_000;

/** Keyed hashes: nothing of what was written can be found out from them. */
export interface PostName {
  /** Of the form, or of the request's key. */
  readonly name: string;
  /** Of what it posts. */
  readonly content: string;
}

/** What was posted. */
export interface Posted {
  readonly url: string;
  /** Of the thread. */
  readonly number: number;
  /** Of the author on that thread, after it. */
  readonly karma: number;
}

export type PostStanding =
  /** It was not sent before, so the caller may post it now. */
  | { readonly kind: 'new' }
  /** Another request is posting it. */
  | { readonly kind: 'sending' }
  | { readonly kind: 'posted'; readonly posted: Posted }
  /** It was sent, and nobody knows whether the host has posted it. */
  | { readonly kind: 'unknown' }
  /** Something else was sent under this name. */
  | { readonly kind: 'other' };

export type PostResult = Extract<PostStanding, { kind: 'new' | 'posted' | 'unknown' }>;

interface SentPost {
  readonly content: string;
  /** Milliseconds since 1970, as everywhere. */
  readonly until: number;
  readonly sendingUntil: number;
  readonly posted: Posted | null;
}

const PREFIX = 'post ';

export class SentPosts {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** @param now milliseconds since 1970. */
  begin({ name, content }: PostName, now: number): PostStanding {
    const sent = this.#kv.get<SentPost>(PREFIX + name);
    if (sent === undefined) {
      const until = now + FORM_LIFE_MS;
      const sending: SentPost = { content, until, sendingUntil: now + SENDING_MS, posted: null };
      this.#kv.put(PREFIX + name, sending);
      return { kind: 'new' };
    }
    const { posted, sendingUntil } = sent;
    if (sent.content !== content) return { kind: 'other' };
    if (posted !== null) return { kind: 'posted', posted };
    // After a clock was set back, nobody waits for longer either.
    return { kind: isAhead(sendingUntil, SENDING_MS, now) ? 'sending' : 'unknown' };
  }

  /** @param result `new`: nothing was posted, and it may be sent again. */
  end(name: string, result: PostResult): void {
    const sent = this.#kv.get<SentPost>(PREFIX + name);
    if (sent === undefined) return;
    const posted = result.kind === 'posted' ? result.posted : null;
    if (result.kind === 'new') this.#kv.delete(PREFIX + name);
    else this.#kv.put(PREFIX + name, { ...sent, sendingUntil: 0, posted });
  }

  /** Answers the rest, as it is stored. */
  forgetOld(now: number): readonly (readonly [string, unknown])[] {
    return [...this.#kv.list<SentPost>({ prefix: PREFIX })].filter(([, { until }]) => until > now);
  }
}
