/**
 * How bright a badge's colours are: all that badge-maker asks `css-color-converter` for. wrangler.toml puts this file in
 * its place, because all colours here are hexadecimal, and its tables are 4 KB of the compressed bundle.
 */

/** @param color of three or six digits, such as `#4CAF50`. */
export function fromString(color: string): { toRgbaArray(): number[] } {
  const digits = color.length === 4 ? color.replaceAll(/[^#]/g, '$&$&') : color;
  return { toRgbaArray: () => [1, 3, 5].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) };
}
