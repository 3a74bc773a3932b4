/**
 * How bright colours are, in place of `css-color-converter` (wrangler.toml): only hexadecimal. 4 KB
 * of the bundle.
 */

/** @param color of three or six digits, such as `#4CAF50`. */
export function fromString(color: string): { toRgbaArray(): number[] } {
  const digits = color.length === 4 ? color.replaceAll(/[^#]/g, '$&$&') : color;
  return { toRgbaArray: () => [1, 3, 5].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) };
}
