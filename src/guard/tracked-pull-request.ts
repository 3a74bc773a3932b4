/** A pull request as a rollback needs it, and its way through time. */
export interface TrackedPullRequest {
  readonly prHash: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly url: string;
  /** When the push began that opened it; milliseconds since 1970. */
  readonly pushedAt: number;
}
