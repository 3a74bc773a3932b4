/**
 * One thing that judging a push has found. It is data: a terminal, a form and a program each show
 * it in their own way.
 * Proved by test/push/judge/judge.test.ts and test/push/consent.test.ts.
 */
export interface Finding {
  /** `refuse`: nothing is published. `warn`: the person should look. `say`: it is only said. */
  readonly severity: 'refuse' | 'warn' | 'say';
  /** Names it for programs and for the log. Nothing in it comes from the person. */
  readonly code: string;
  /** Explanation and next step, for the person alone. */
  readonly lines: readonly string[];
  /** Paths of files and titles of commits that it is about, where they are known. */
  readonly places?: readonly string[];
}

/** Limits the places that a program is told; the lines name fewer. */
const MAX_PLACES = 100;

/**
 * Codes of all warnings. The push option `yes` accepts them by name, so a code never changes its
 * meaning. docs/clients.md explains each.
 */
export const WARNING_CODES = [
  'borrowed',
  'changelog-gate',
  'closed',
  'compiled-files',
  'credentials',
  'days',
  'dropped',
  'folders',
  'gate',
  'home-folders',
  'ids',
  'leftovers',
  'loud-messages',
  'merged',
  'messages-gate',
  'metadata',
  'names',
  'other-authors',
  'other-branch',
  'people',
  'second',
  'sign-off-gate',
  'submodules',
  'title',
  'title-gate',
  'trails',
  'unknown-hash',
  'unlisted-branches',
  'words',
  'workflows',
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

/** Answers a warning; none without lines. */
export function warn(code: WarningCode, ...lines: readonly string[]): Finding[] {
  return lines.length === 0 ? [] : [{ severity: 'warn', code, lines }];
}

/** Answers a remark; none without lines. */
export function say(code: string, ...lines: readonly string[]): Finding[] {
  return lines.length === 0 ? [] : [{ severity: 'say', code, lines }];
}

/** Answers a warning about these places. */
export function warnAt(code: WarningCode, places: readonly string[], ...lines: readonly string[]): Finding[] {
  return lines.length === 0 ? [] : [{ severity: 'warn', code, lines, places: places.slice(0, MAX_PLACES) }];
}

export function linesOf(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ lines }) => lines);
}
