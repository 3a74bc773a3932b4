/**
 * Shows on a terminal all that refuses a push: every refusal, then the warnings, and the command
 * that passes once the rest is done.
 * Proved by test/push/reply/review.test.ts.
 */
import { linesOf } from '../../words/finding.ts';
import { sentence } from '../../words/sentence.ts';
import type { Refusal, RefusalCode } from './refusal.ts';

/** The most refusals that are shown. Of more, only the number is. */
const MOST_REFUSALS = 14;

/** Faults that the person can mend, so that one command passes then. */
const MENDABLE: ReadonlySet<RefusalCode> = new Set([
  'options',
  'pr-key',
  'sign-off',
  'stated',
  'base',
  'double',
  'fetch-first',
  'squash',
  'not-rewritable',
  'fsck',
  'names',
  'unsearchable',
  'trails',
  'noise',
  'workflows',
  'too-large',
]);

/** Faults that only options mend: without `needs`, nobody but the person can write these. */
const MENDED_BY_OPTIONS: ReadonlySet<RefusalCode> = new Set(['options', 'trails']);

/** Refusals whose first line says all that their reason does. */
const TELLS_ITSELF: ReadonlySet<RefusalCode> = new Set([
  'base',
  'fetch-first',
  'names',
  'sign-off',
  'stated',
  'trails',
  'workflows',
]);

/**
 * Whether it helps to show the whole command: options change, or several things have to. There is
 * none without an option that nobody but the person can write.
 */
export function isMendable({ all }: Refusal): boolean {
  if (all.some(({ code, needs }) => MENDED_BY_OPTIONS.has(code) && needs.length === 0)) return false;
  const changes = all.length > 1 || all.some(({ needs }) => needs.length > 0);
  return changes && all.every(({ code }) => MENDABLE.has(code));
}

/** Whether nothing but its options has to change. */
export function needsOnlyOptions({ all }: Refusal): boolean {
  return all.every(({ needs }) => needs.length > 0);
}

/** @param command that passes once the rest is done; null: there is none. */
export function reviewLines(refusal: Refusal, command: string | null): readonly string[] {
  const { all, warnings, paragraph } = refusal;
  if (all.length === 1 && warnings.length === 0 && command === null) return paragraph;
  const again = needsOnlyOptions(refusal) ? 'Push again with:' : 'When the rest is done, push with:';
  const only = refusal.lines.length === 0 ? ['', reasonOf(refusal)] : paragraph.slice(0, -1);
  const lines = all.length === 1 ? only : ['', ...numbered(all)];
  if (warnings.length > 0) lines.push('', ...linesOf(warnings));
  if (command !== null) lines.push('', again, `  ${command}`);
  return [...lines, ''];
}

/** All lines without a terminal's layout and command. The reason of the first is told apart. */
export function allLines({ all, warnings }: Refusal): string[] {
  const refused = all.flatMap((each, at) => (at === 0 ? each.lines : besideOthers(each)));
  return [...refused, ...linesOf(warnings)];
}

/** The reason as a sentence. One about options may begin with a name, which has no capital. */
function reasonOf({ code, reason }: Refusal): string {
  return code === 'options' ? `${reason}.` : sentence(reason);
}

/** The lines of a refusal whose reason does not stand in Git's status table. */
function besideOthers(refusal: Refusal): readonly string[] {
  const { code, lines } = refusal;
  return TELLS_ITSELF.has(code) && lines.length > 0 ? lines : [reasonOf(refusal), ...lines];
}

function numbered(all: readonly Refusal[]): string[] {
  const shown = [`This push is refused for ${all.length} reasons:`];
  for (const [at, refusal] of all.slice(0, MOST_REFUSALS).entries()) {
    const [first, ...more] = besideOthers(refusal);
    shown.push(`${at + 1}. ${first}`, ...more.map((line) => `   ${line}`));
  }
  const more = all.length - MOST_REFUSALS;
  return more > 0 ? [...shown, `and for ${more} more.`] : shown;
}
