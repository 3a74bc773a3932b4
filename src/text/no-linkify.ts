/** In place of `linkify-it`, which markdown-it loads even if no addresses become links: 17 KB of the bundle. */
export function LinkifyIt(): void {}
