/**
 * Replaces `css-color-converter` in the bundle (wrangler.toml), which saves 4 KB: badge-maker only
 * asks how bright a hexadecimal colour is.
 */

/** @param color three or six digits, such as `#4CAF50`. */
export function fromString(color: string): { toRgbaArray(): number[] } {
  const digits = color.length === 4 ? color.replaceAll(/[^#]/g, '$&$&') : color;
  return { toRgbaArray: () => [1, 3, 5].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) };
}
