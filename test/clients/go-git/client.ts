/** go-git, the Git library of many Go programs. Needs Go. */
import { join } from 'node:path';
import { pinned, prepare } from '../support/cache.ts';
import { programClient } from '../support/program-client.ts';

const FOLDER = import.meta.dirname;

export const goGit = await prepare({
  name: 'go-git',
  sources: ['go.mod', 'go.sum', 'main.go'].map((name) => join(FOLDER, name)),
  steps: (folder) => [['go', 'build', '-C', FOLDER, '-o', join(folder, 'client'), '.']],
  client: (folder) =>
    programClient({
      name: 'go-git',
      version: pinned(join(FOLDER, 'go.mod'), /go-git\/v5 v(\S+)/),
      cannot: {},
      command: () => [join(folder, 'client')],
    }),
});
