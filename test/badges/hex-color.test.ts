/** How bright colours are, for badge-maker, which asks a package here: only the bundle has ours. */
import { makeBadge } from 'badge-maker';
import { expect, it } from 'vitest';
import { fromString } from '../../src/badges/hex-color.ts';

it.each([
  ['#4CAF50', [76, 175, 80]],
  ['#0ea5e9', [14, 165, 233]],
  ['#555', [85, 85, 85]],
])('%s has three parts', (color, parts) => {
  expect(fromString(color).toRgbaArray()).toEqual(parts);
});

it('knows every form of colour on a badge', () => {
  const drawn = makeBadge({ label: 'a', message: 'b', color: '#e05d44' }).match(/fill="#[^"]*"/g) ?? [];
  expect(drawn.length).toBeGreaterThan(2);
  expect(drawn.filter((fill) => !/^fill="#(?:[0-9a-f]{3}){1,2}"$/.test(fill))).toEqual([]);
});
