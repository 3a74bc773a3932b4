/**
 * A row of the table in docs/clients.md: what a contributor does, and what must be true on the host
 * afterwards.
 */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { TestBed } from '../../e2e/support/test-bed.ts';
import type { Ability, GitClient } from '../support/client.ts';
import { Contributor } from '../support/contributor.ts';

export type Act = (bed: TestBed, client: GitClient) => Promise<void>;

export interface Story {
  readonly name: string;
  readonly act: Act;
  /**
   * Abilities that the client must have, with what its users do if it lacks one; null: there is no
   * way around.
   */
  readonly needs?: Readonly<Partial<Record<Ability, Detour | null>>>;
}

export interface Detour {
  readonly name: string;
  readonly act: Act;
}

export const MiB = 1024 * 1024;
const LARGE_FILES = 5;

export const TOPIC = 'refs/heads/topic:refs/heads/topic';

/** A person with one commit on a branch of their own. */
export async function withTopic(bed: TestBed, client: GitClient, depth?: number): Promise<Contributor> {
  const at = await Contributor.start(bed, client, { ...(depth !== undefined && { depth }) });
  await at.switchTo('topic');
  await at.commit();
  return at;
}

/**
 * Five commits with a file each that no compression makes smaller. Few, as clients compare each
 * with each.
 */
export async function withLargeFiles(bed: TestBed, client: GitClient, bytes: number): Promise<Contributor> {
  const at = await Contributor.start(bed, client);
  await at.switchTo('topic');
  for (let file = 1; file <= LARGE_FILES; file++) {
    at.write(`large/${file}.bin`, randomBytes(bytes));
    await at.commit();
  }
  const files = await at.clone.git('ls-tree', '--name-only', 'HEAD', 'large/');
  expect(files.split('\n')).toHaveLength(LARGE_FILES);
  return at;
}
