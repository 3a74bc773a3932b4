import { expect, it } from 'vitest';
import { heldSwitch, holdSwitch, releaseSwitch } from '../../src/isolate/held-switches.ts';

it('holds a switch that was set otherwise while an earlier setting was stored', () => {
  holdSwitch('pushes', false);
  holdSwitch('pushes', true);
  releaseSwitch('pushes', false);
  expect(heldSwitch('pushes')).toBe(true);
  releaseSwitch('pushes', true);
  expect(heldSwitch('pushes')).toBeNull();
});
