/**
 * In place of `linkify-it`, which markdown-it loads even if no addresses become links: 17 KB of the
 * bundle.
 * Proved by test/local/bundle.test.ts.
 */
export function LinkifyIt(): void {}
