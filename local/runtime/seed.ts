/**
 * Seeds the embedded code host with one small repository, so that people who try the service have
 * something to clone.
 */
import { mustRunGit } from '../../sandbox/git-command.ts';

export const SEED = { owner: 'octo', name: 'hello' } as const;

interface SeedCommit {
  readonly daysAgo: number;
  readonly message: string;
  readonly files: Readonly<Record<string, string>>;
}

const README = `# hello

Says hello. Try \`sh hello.sh\`.
`;

const HISTORY: readonly SeedCommit[] = [
  { daysAgo: 30, message: 'Say what this will be\n', files: { 'README.md': '# hello\n' } },
  {
    daysAgo: 21,
    message: 'Say hello\n\nWithout an argument it greets the world.\n',
    files: { 'hello.sh': '#!/bin/sh\necho "Hello, ${1:-world}"\n', 'README.md': README },
  },
  {
    daysAgo: 4,
    message: 'Explain how to contribute\n',
    files: { 'CONTRIBUTING.md': 'Pull requests are welcome, signed or not.\n' },
  },
];

/**
 * Writes the history to the main branch of a bare repository. Its dates are recent, like those of a
 * living project.
 */
export async function seedRepository(barePath: string, now: Date): Promise<void> {
  const input = HISTORY.map((commit) => fastImportCommit(commit, now)).join('');
  await mustRunGit(barePath, ['fast-import', '--quiet', '--force'], { input });
}

/** One commit on main, in the format of git-fast-import(1). */
function fastImportCommit({ daysAgo, message, files }: SeedCommit, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000) - daysAgo * 86_400;
  const changes = Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`);
  return [
    'commit refs/heads/main\n',
    `committer Octo Maintainer <octo@example.org> ${seconds} +0000\n`,
    data(message),
    ...changes,
  ].join('');
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
