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
  /** Undefined: the push has not shown that it has it. */
  readonly prKey?: string;
  readonly subscribeUrl: string;
  /** The command that updates the pull request. */
  readonly command: string;
}

/**
 * The key of the pull request that a push has opened, or that is opened later; undefined: it was
 * not shown.
 */
export function keyIn(run: Pick<GitRun, 'stderr'>): string | undefined {
  return /^ *PR key: +(\S+)$/m.exec(remoteLines(run).join('\n'))?.[1];
}

/**
 * Lines besides the secrets, which stand in the first lines of a push that opens something, or
 * waits.
 */
export function withoutSecrets(run: Pick<GitRun, 'stderr'>): string[] {
  const secret = /^Save (?:the key|this address) now\.|^ {2}PR key: |^ {2}Page: .*\/v1\/delayed\//;
  return remoteLines(run).filter((line) => !secret.test(line));
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
    subscribeUrl: valueOf('Notify:'),
    // A warning before it may have a command of its own.
    command: lines.findLast((line) => /^(?:git push -o |curl .*\?)pr-hash=/.test(line)),
  };
  const missing = Object.entries(banner).find(([, value]) => value === undefined);
  if (missing) throw new Error(`the banner has no ${missing[0]}:\n${run.stderr}`);
  const prKey = keyIn(run);
  return { ...banner, ...(prKey !== undefined && { prKey }) } as Banner;
}
