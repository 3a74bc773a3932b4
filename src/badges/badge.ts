/**
 * The badges of the service, in the flat style of shields.io (contract, 4.14 and 4.15). Pure: facts
 * in, SVG out.
 * Proved by test/routes/service/badges.test.ts.
 */
import { makeBadge } from 'badge-maker';
import { Recent } from '../isolate/recent.ts';

const GREEN = '#4CAF50';
const GRAY = '#9E9E9E';
const BLUE = '#0ea5e9';
const RED = '#e05d44';

/** @param isVerified whether the repository says so itself. */
export function anonymousFriendlyBadge(isVerified: boolean): string {
  return draw('anonymous-friendly', isVerified ? 'verified' : 'not verified', isVerified ? GREEN : GRAY);
}

/** For a link that opens the form of an issue. */
export function reportBadge(): string {
  return draw('report', 'without an account', GREEN);
}

/** An abbreviated commit id. Characters outside it are not allowed on a badge. */
export function shortCommit(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 7);
}

export function deployedBadge(commit: string, isSuspended: boolean): string {
  return isSuspended ? draw('deployed', 'suspended', RED) : draw('deployed', commit, BLUE);
}

/** @param count undefined if it is unknown. */
export function pullRequestCountBadge(count: number | undefined): string {
  return draw('Anonymous PRs', String(count ?? 'unknown'), count === undefined ? GRAY : GREEN);
}

const drawn = new Recent<string>({ most: 200 });

/**
 * The same few badges are requested all the time, and drawing one takes longer than the rest of the
 * answer.
 */
function draw(label: string, message: string, color: string): string {
  const key = `${label}\n${message}\n${color}`;
  const known = drawn.get(key);
  if (known !== null) return known;
  // The library writes colours in small letters.
  const svg = makeBadge({ label, message, color }).replaceAll(color.toLowerCase(), color);
  drawn.set(key, svg);
  return svg;
}
