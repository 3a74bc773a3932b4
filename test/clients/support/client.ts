/**
 * A Git client as the stories use it: the verbs of a contribution, each carried out by a real
 * program or library.
 *
 * Every verb works in a person's clone and answers what that person gets to read. Refspecs are
 * spelled out (`refs/heads/topic:refs/heads/topic`), because the short forms differ from client to
 * client.
 */
import type { Person } from '../../e2e/support/person.ts';

export interface ClientRun {
  /** The client reports success: of a push, that every ref was taken. */
  readonly isOk: boolean;
  /** All that the person reads; lines of the service begin with `remote: `. */
  readonly output: string;
}

export interface CommitWish {
  /** Default 1. */
  readonly count?: number;
  /** Default: `Change something`. Each of several commits has its number behind it. */
  readonly message?: string;
}

export interface PushWish {
  readonly refspecs: readonly string[];
  /** Push options (`git push -o`). */
  readonly options?: readonly string[];
}

export interface GitClient {
  readonly name: string;
  /** The version of the client and of the library behind it, as documentation names it. */
  readonly version: string;
  /** Abilities that this client lacks, and why. The stories say what its users do instead. */
  readonly cannot: Readonly<Partial<Record<Ability, string>>>;
  /** Clones the default branch into a new folder. @param depth null: all commits. */
  clone(person: Person, url: string, folder: string, depth: number | null): Promise<ClientRun>;
  /** Brings the remote-tracking branches up to date. */
  fetch(person: Person, folder: string): Promise<ClientRun>;
  /** Checks a branch out; one that does not exist begins at HEAD. */
  switchTo(person: Person, folder: string, branch: string): Promise<ClientRun>;
  /** Commits everything in the work tree; each commit also adds a line to `<branch>.log`. */
  commit(person: Person, folder: string, wish: CommitWish): Promise<ClientRun>;
  /** Merges a branch into the one that is checked out, by a merge commit. */
  merge(person: Person, folder: string, branch: string): Promise<ClientRun>;
  /** Makes an annotated tag of HEAD. */
  tag(person: Person, folder: string, name: string): Promise<ClientRun>;
  /** Pushes to `origin`. */
  push(person: Person, folder: string, wish: PushWish): Promise<ClientRun>;
}

/** Abilities that not every client has. */
export type Ability =
  | 'push-options'
  | 'several-refs'
  | 'refs/for'
  /** Pushing a branch again although upstream does not show it. */
  | 'same-branch-again';

/** A client, or the reason why it cannot be had on this machine. */
export type Prepared =
  | { readonly kind: 'ready'; readonly client: GitClient }
  | { readonly kind: 'missing'; readonly name: string; readonly reason: string };
