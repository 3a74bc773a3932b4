/**
 * Replaces `linkify-it` in the bundle, which saves 17 KB: markdown-it loads it even if no addresses
 * become links.
 * Proved by test/local/bundle.test.ts.
 */
export function LinkifyIt(): void {}
