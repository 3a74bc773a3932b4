/** Classes of characters against those of the package that ours replace in the bundle. */
import { Any, Cc, Cf, P, S, Z } from 'uc.micro';
import { expect, it } from 'vitest';
import * as ours from '../../src/text/unicode-classes.ts';

const CHARACTERS = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));

it.each([
  ['Any', ours.Any, Any],
  ['Cc', ours.Cc, Cc],
  ['Cf', ours.Cf, Cf],
  ['P', ours.P, P],
  ['S', ours.S, S],
  ['Z', ours.Z, Z],
])('%s has the same characters', (_, own, other) => {
  const others = CHARACTERS.filter((one) => own.test(one) !== other.test(one));
  expect(others).toEqual([]);
});
