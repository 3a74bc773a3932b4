/** Reads what `git push` prints to a person. */
import type { GitRun } from './person.ts';

/** The lines that the service sent, without what Git puts around them. */
export function remoteLines({ stderr }: Pick<GitRun, 'stderr'>): string[] {
  return stderr
    .split(/\n|\r/)
    .filter((line) => line.startsWith('remote:'))
    .map((line) => line.replace(/^remote: ?/, '').trimEnd());
}

/** The rows of Git's status table, e.g. ` * [new branch]      HEAD -> fix`. */
export function statusTable({ stderr }: Pick<GitRun, 'stderr'>): string[] {
  return stderr.split('\n').filter((line) => /^ [ *+!=-] /.test(line));
}

export interface Banner {
  readonly prUrl: string;
  readonly author: string;
  readonly branch: string;
  readonly prHash: string;
  readonly subscribeUrl: string;
  /** The command that updates the pull request. */
  readonly command: string;
}

/** The banner of a push that succeeded; throws when a part of it is missing. */
export function bannerOf(run: Pick<GitRun, 'stderr'>): Banner {
  const lines = remoteLines(run).map((line) => line.trim());
  const valueOf = (label: string) =>
    lines
      .find((line) => line.startsWith(label))
      ?.slice(label.length)
      .trim();
  const banner = {
    prUrl: valueOf('PR URL:'),
    author: valueOf('Author:'),
    branch: valueOf('Branch:'),
    prHash: valueOf('PR hash:'),
    subscribeUrl: valueOf('Topic:'),
    command: lines.find((line) => line.startsWith('git push -o pr-hash=')),
  };
  const missing = Object.entries(banner).find(([, value]) => value === undefined);
  if (missing) throw new Error(`the banner has no ${missing[0]}:\n${run.stderr}`);
  return banner as Banner;
}
