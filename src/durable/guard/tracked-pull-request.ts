/** What a rollback needs to know about a pull request. */
export interface TrackedPullRequest {
  readonly prHash: string;
  /** The key of the code host. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly url: string;
  /** When the push began that opened it; milliseconds since 1970. */
  readonly pushedAt: number;
}
