/** dulwich, Git in Python. */
import { preparePython } from '../support/python.ts';

export const dulwich = await preparePython({
  name: 'dulwich',
  distribution: 'dulwich',
  folder: import.meta.dirname,
});
