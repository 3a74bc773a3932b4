/** The commands that `npm start` prints for a newcomer, run as they stand. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownEnvironment } from './programs.ts';

/**
 * @param folder an empty one, to run them in. Answers the address that the last one opens in a
 * browser.
 */
export async function runPrintedCommands(welcome: string, folder: string): Promise<string> {
  const [, paragraph = ''] = /^Try it in another terminal:\n\n((?: {2}.+\n)+)/m.exec(welcome) ?? [];
  const opener = /^ {2}(open|xdg-open) /m.exec(paragraph)?.[1] ?? 'none';
  const bin = join(folder, 'bin');
  const opened = join(folder, 'opened');
  mkdirSync(bin);
  writeFileSync(join(bin, opener), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`);
  chmodSync(join(bin, opener), 0o755);
  await promisify(execFile)('bash', ['-e', '-c', paragraph], {
    cwd: folder,
    // A person without any configuration of Git's.
    env: { PATH: `${bin}:${ownEnvironment().PATH}`, HOME: folder },
  });
  return readFileSync(opened, 'utf8');
}

/** The page of the newest pull request that a repository's page lists. */
export async function readPullRequestPage(repositoryPage: string): Promise<string> {
  const list = await (await fetch(repositoryPage)).text();
  const [, path = ''] = /href="([^"]*\/pull\/\d+)"/.exec(list) ?? [];
  return (await fetch(new URL(path, repositoryPage))).text();
}
