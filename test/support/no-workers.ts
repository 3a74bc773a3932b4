/**
 * In place of `cloudflare:workers` where the service's code runs in Node.js: nothing is bound, and
 * counts are kept.
 */
export const env = {};

export function waitUntil(work: Promise<unknown>): void {
  work.catch(() => {});
}
