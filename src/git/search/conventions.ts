/**
 * Conventions of a history's own messages: the keys of trailers (`link:`) and the servers of links
 * (`//lore.kernel.org`) that they use. Whoever does the same is not known by it.
 */
import { latin1 } from '../bytes.ts';
import { KEYS, SERVERS } from './message-ids.ts';

/** Git sends the newest commits first. */
const MAX_COMMITS = 2_000;
const MAX_BYTES = 16 * 1024;
const MAX_ALL_BYTES = 1024 * 1024;
/** Maximum number of keys, and of servers, that are read of one message. */
const MAX_MATCHES = 50;
const MAX_CONVENTIONS = 1_000;

export class Conventions {
  readonly all = new Set<string>();
  #commitsLeft = MAX_COMMITS;
  #bytesLeft = MAX_ALL_BYTES;

  /** @param content is that of a commit. */
  add(content: Uint8Array): void {
    if (this.#commitsLeft-- <= 0 || this.#bytesLeft <= 0 || this.all.size >= MAX_CONVENTIONS) return;
    const text = latin1(content.subarray(0, MAX_BYTES));
    this.#bytesLeft -= text.length;
    const message = text.slice(text.indexOf('\n\n') + 2);
    // A title may begin with the name of a part (`x86: mend it`).
    const body = message.slice(message.indexOf('\n') + 1);
    for (const key of matchesOf(body, KEYS)) this.#add(`${key}:`);
    for (const server of matchesOf(body, SERVERS)) this.#add(`//${server}`);
  }

  #add(convention: string): void {
    if (this.all.size < MAX_CONVENTIONS) this.all.add(convention.toLowerCase());
  }
}

/** Yields what the first group of a pattern matches, up to a number of matches. */
function* matchesOf(text: string, pattern: RegExp): Generator<string> {
  let left = MAX_MATCHES;
  for (const [, found = ''] of text.matchAll(pattern)) {
    yield found;
    left -= 1;
    if (left === 0) return;
  }
}
