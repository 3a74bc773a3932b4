/**
 * Needs of the contract's cases at a host: somewhere to act as the bot, and people who act beside
 * it.
 */
import type { RestAccess } from '../../../src/host/rest/rest.ts';
import type { RepositoryName } from '../../../src/words/repository-name.ts';
import type { Upstream } from '../../e2e/support/upstream.ts';

/** Accounts that are not the bot's. */
export const OWNERS = ['mona', 'other'] as const;
export type Owner = (typeof OWNERS)[number];

/** Somebody else's repository. */
export interface ContractRepository {
  readonly name: RepositoryName;
  /** Its history; whatever it makes is on the host when its promise resolves. */
  readonly upstream: Upstream;
  /** These are its owner's. */
  comment(number: number, text: string): Promise<void>;
  review(number: number, text: string): Promise<void>;
  /** A review with a remark on a line of a file that the pull request adds. */
  remark(number: number, path: string, text: string): Promise<void>;
  lock(number: number): Promise<void>;
  merge(number: number): Promise<void>;
  /** Only where the host has them. */
  takePrivateReports(): Promise<void>;
  /** The old name redirects. */
  rename(name: string): Promise<void>;
}

export interface ContractHost {
  readonly access: RestAccess;
  /** Web and Git base. */
  readonly url: string;
  readonly botLogin: string;
  /** The most entries of a list that it gives at once. */
  readonly pageSize: number;
  /** With three commits on `main`; by default with a name that no other has. */
  createRepository(wanted?: { readonly owner?: Owner; readonly name?: string }): Promise<ContractRepository>;
  /** The description of an issue or a pull request. */
  textOf(repository: RepositoryName, number: number): Promise<string>;
}
