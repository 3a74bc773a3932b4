/** The badges of the service, in the flat style of shields.io (contract, 4.14 and 4.15). Pure: facts in, SVG out. */
import { makeBadge } from 'badge-maker';
import { Recent } from '../isolate/recent.ts';

const GREEN = '#4CAF50';
const GRAY = '#9E9E9E';
const BLUE = '#0ea5e9';
const RED = '#e05d44';

/** @param isVerified whether the repository says so itself. */
export function anonymousFriendlyBadge(isVerified: boolean): string {
  const message = isVerified ? 'verified' : 'not verified';
  return draw({ label: 'anonymous-friendly', message, color: isVerified ? GREEN : GRAY });
}

/** For a link that opens the form of an issue. */
export function reportBadge(): string {
  return draw({ label: 'report', message: 'without an account', color: GREEN });
}

/** An abbreviated commit id. Characters outside it are not allowed on a badge. */
export function shortCommit(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 7);
}

export function deployedBadge(commit: string, isSuspended: boolean): string {
  return isSuspended
    ? draw({ label: 'deployed', message: 'suspended', color: RED })
    : draw({ label: 'deployed', message: commit, color: BLUE });
}

/** @param count undefined if it is unknown. */
export function pullRequestCountBadge(count: number | undefined): string {
  const label = 'Anonymous PRs';
  return count === undefined
    ? draw({ label, message: 'unknown', color: GRAY })
    : draw({ label, message: String(count), color: GREEN });
}

const MAX_DRAWN = 200;
const drawn = new Recent<string>({ most: MAX_DRAWN });

/** The same few badges are requested all the time, and drawing one takes longer than the rest of the answer. */
function draw(badge: { label: string; message: string; color: string }): string {
  const key = `${badge.label}\n${badge.message}\n${badge.color}`;
  const known = drawn.get(key);
  if (known !== null) return known;
  // The library writes colours in small letters.
  const svg = makeBadge(badge).replaceAll(badge.color.toLowerCase(), badge.color);
  drawn.set(key, svg);
  return svg;
}
