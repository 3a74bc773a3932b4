/**
 * Finds the handlers of a path, and remembers those of the last paths: most requests are for the same few, badges,
 * status and metrics. Of Hono's routers, only the slowest takes patterns such as `/v1/:host/...` beside `/v1/pr/...`.
 */
import type { Result, Router } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';

const MOST_REMEMBERED = 200;
/** Longer ones are not repeated. */
const LONGEST_PATH = 100;

export class RememberingRouter<T> implements Router<T> {
  readonly name = 'RememberingRouter';
  readonly #router = new TrieRouter<T>();
  readonly #known = new Map<string, Result<T>>();

  add(method: string, path: string, handler: T): void {
    this.#known.clear();
    this.#router.add(method, path, handler);
  }

  match(method: string, path: string): Result<T> {
    if (path.length > LONGEST_PATH) return this.#router.match(method, path);
    const key = `${method} ${path}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const result = this.#router.match(method, path);
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear();
    this.#known.set(key, result);
    return result;
  }
}
