/** The badges of the service, in the flat style of shields.io (contract, 4.14 and 4.15). Pure: facts in, SVG out. */
import { makeBadge } from 'badge-maker';

const GREEN = '#4CAF50';
const GRAY = '#9E9E9E';
const BLUE = '#0ea5e9';
const RED = '#e05d44';

/** @param isVerified whether the repository says so itself. */
export function anonymousFriendlyBadge(isVerified: boolean): string {
  const message = isVerified ? 'verified' : 'not verified';
  return makeBadge({ label: 'anonymous-friendly', message, color: isVerified ? GREEN : GRAY });
}

/** As much of a commit's id as people read. What stands in no such name does not belong on a badge either. */
export function shortCommit(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 7);
}

/** @param commit already short. */
export function deployedBadge(commit: string, isSuspended: boolean): string {
  return isSuspended
    ? makeBadge({ label: 'deployed', message: 'suspended', color: RED })
    : makeBadge({ label: 'deployed', message: commit, color: BLUE });
}

/** @param count undefined: nobody knows. */
export function pullRequestCountBadge(count: number | undefined): string {
  const label = 'Anonymous PRs';
  return count === undefined
    ? makeBadge({ label, message: 'unknown', color: GRAY })
    : makeBadge({ label, message: String(count), color: GREEN });
}
