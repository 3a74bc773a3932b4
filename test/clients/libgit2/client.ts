/** libgit2, through its Python bindings: the Git of many desktop programs. */
import { preparePython } from '../support/python.ts';

export const libgit2 = await preparePython({
  name: 'libgit2, by pygit2',
  distribution: 'pygit2',
  folder: import.meta.dirname,
});
