/**
 * What a history's own messages use with ids: keys of trailers (`link:`) and servers of links
 * (`//lore.kernel.org`). Whoever writes the same is not known by it.
 */
import { latin1 } from '../bytes.ts';
import { linesWithIds } from './message-ids.ts';

/** Git sends the newest commits first. */
const MAX_COMMITS = 2_000;
const MAX_BYTES = 16 * 1024;
const MAX_CONVENTIONS = 1_000;

export class Conventions {
  readonly all = new Set<string>();
  #commitsLeft = MAX_COMMITS;

  /** @param content of a commit. */
  add(content: Uint8Array): void {
    if (this.#commitsLeft-- <= 0) return;
    const text = latin1(content.subarray(0, MAX_BYTES));
    // A signature's lines are no message.
    const message = text.slice(text.indexOf('\n\n') + 1);
    for (const { key, server } of linesWithIds(message, () => this.all.size < MAX_CONVENTIONS)) {
      if (key !== null) this.all.add(key);
      if (server !== null) this.all.add(server);
    }
  }
}
