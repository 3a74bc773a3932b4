/**
 * Draws the badges of the service, in the flat style of shields.io (contract, 4.14 and 4.15).
 * Proved by test/routes/service/badges.test.ts.
 */
import { makeBadge } from 'badge-maker';
import { Recent } from '../isolate/recent.ts';

const GREEN = '#4CAF50';
const GRAY = '#9E9E9E';
const BLUE = '#0ea5e9';
const RED = '#e05d44';

/** @param isVerified whether the repository's own policy says so. */
export function anonymousFriendlyBadge(isVerified: boolean): string {
  return draw('anonymous-friendly', isVerified ? 'verified' : 'not verified', isVerified ? GREEN : GRAY);
}

/** Draws the badge for a link to the form of an issue. */
export function reportBadge(): string {
  return draw('report', 'without an account', GREEN);
}

/**
 * Shortens the id of a commit, and drops characters that have no place in it, as anybody can set
 * it.
 */
export function shortCommit(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 7);
}

export function deployedBadge(commit: string, isSuspended: boolean): string {
  return isSuspended ? draw('deployed', 'suspended', RED) : draw('deployed', commit, BLUE);
}

/** @param count undefined if it is not known. */
export function pullRequestCountBadge(count: number | undefined): string {
  return draw('Anonymous PRs', String(count ?? 'unknown'), count === undefined ? GRAY : GREEN);
}

const drawn = new Recent<string>({ most: 200 });

/**
 * Draws a badge, or takes it from a cache, because drawing takes longer than the rest of an answer.
 */
function draw(label: string, message: string, color: string): string {
  const key = `${label}\n${message}\n${color}`;
  const known = drawn.get(key);
  if (known !== null) return known;
  // The library writes colours in lower case; the contract has upper case.
  const svg = makeBadge({ label, message, color }).replaceAll(color.toLowerCase(), color);
  drawn.set(key, svg);
  return svg;
}
