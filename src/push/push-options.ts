/** Push options (`git push -o name=value`) as the service understands them. */
export const PR_HASH_PATTERN = /^[0-9a-f]{8,40}$/;

export interface PushOptions {
  /** The pull request to update. */
  readonly prHash: string | null;
  /** Sentences about options that are not taken as given. */
  readonly warnings: readonly string[];
}

export type PushOptionsResult =
  | { readonly kind: 'valid'; readonly options: PushOptions }
  | { readonly kind: 'invalid'; readonly message: string };

export function parsePushOptions(pushOptions: readonly string[]): PushOptionsResult {
  let prHash: string | null = null;
  const warnings: string[] = [];
  for (const option of pushOptions) {
    const equals = option.indexOf('=');
    const name = equals < 0 ? option : option.slice(0, equals);
    if (name !== 'pr-hash') {
      warnings.push('A push option is unknown here and was ignored. Known options: pr-hash=<hash>.');
      continue;
    }
    const value = option.slice(equals + 1).toLowerCase();
    if (equals < 0 || !PR_HASH_PATTERN.test(value)) {
      return {
        kind: 'invalid',
        message: 'pr-hash must be 8 to 40 hexadecimal characters, as the banner shows it',
      };
    }
    if (prHash !== null && prHash !== value) {
      return { kind: 'invalid', message: 'a push updates one pull request: give one pr-hash' };
    }
    prHash = value;
  }
  return { kind: 'valid', options: { prHash, warnings } };
}

/** The working branch of a pull request on the fork (contract, 2.7). */
export function workBranch(prHash: string): string {
  return `anon-${prHash}`;
}

/** The pr_hash of a working branch; null if it is another branch. */
export function prHashOf(branch: string): string | null {
  const prHash = branch.startsWith('anon-') ? branch.slice('anon-'.length) : '';
  return PR_HASH_PATTERN.test(prHash) ? prHash : null;
}
