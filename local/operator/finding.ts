/** Findings of `npm run doctor`, and how they look on one screen. */

export interface Finding {
  /** The thing that was checked: a word or two. */
  readonly subject: string;
  /** `problem`: something does not work until it is corrected. `warning`: it may be intended. */
  readonly state: 'ok' | 'warning' | 'problem';
  /** The result, in one line. */
  readonly says: string;
  /** Sentences that say what to do. */
  readonly remedy?: string;
}

const URGENCY: readonly Finding['state'][] = ['problem', 'warning', 'ok'];

/** Size of a terminal. */
const COLUMNS = 80;
const LINES = 24;
/** Leaves room for the prompt that follows, and for npm's own lines. */
const MOST_LINES = LINES - 2;

/** Writes the findings on at most one screen. What is well is left out first. */
export function screenOf(findings: readonly Finding[]): string {
  const wrong = findings.filter(({ state }) => state !== 'ok');
  const well = findings.length - wrong.length;
  const summary: Finding[] = well === 0 ? [] : [{ subject: `${well} more`, state: 'ok', says: '' }];
  const problems = wrong.filter(({ state }) => state === 'problem');
  const candidates = [
    [...rowsOf(findings), ...remediesOf(wrong)],
    [...rowsOf([...wrong, ...summary]), ...remediesOf(wrong)],
    [...rowsOf([...wrong, ...summary]), ...remediesOf(problems)],
    remediesOf(problems),
  ];
  const lines = candidates.find(({ length }) => length <= MOST_LINES) ?? [
    ...remediesOf(problems).slice(0, MOST_LINES - 1),
    '… and more: correct these first, and run this again.',
  ];
  return lines.join('\n');
}

function rowsOf(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  return findings.map(({ state, subject, says }) => {
    const row = `${state.padEnd(7)}  ${subject.padEnd(width)}  ${says}`.trimEnd();
    return row.length <= COLUMNS ? row : `${row.slice(0, COLUMNS - 1)}…`;
  });
}

function remediesOf(findings: readonly Finding[]): string[] {
  const problemsFirst = findings.toSorted((a, b) => URGENCY.indexOf(a.state) - URGENCY.indexOf(b.state));
  const remedies = problemsFirst.flatMap(({ remedy = '' }) => (remedy === '' ? [] : wrapped(`- ${remedy}`)));
  return remedies.length === 0 ? [] : ['', 'What to do:', ...remedies];
}

/**
 * Breaks a text into lines that fit a terminal, indented from the second one on. A word that is
 * longer has a line of its own.
 */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = ` `;
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
