/** In place of `linkify-it`, which markdown-it loads also where no addresses are to become links: 17 KB of the bundle. */
export function LinkifyIt(): void {}
