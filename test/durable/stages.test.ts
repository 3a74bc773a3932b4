/** The tables of stages: whole, and asked by the code. */
import { describe, expect, it } from 'vitest';
import { DELAYED_STAGES } from '../../src/durable/delayed-pushes/stages.ts';
import { MODERATION_STAGES } from '../../src/durable/identity/stages.ts';
import { PULL_REQUEST_STAGES } from '../../src/durable/pull-request/stages.ts';
import { checkMove, stageAfter, type StageTable } from '../../src/durable/stages.ts';

type Table = StageTable<string, string>;

const TABLES: readonly (readonly [what: string, table: Table])[] = [
  ['a delayed push', DELAYED_STAGES],
  ['a pull request', PULL_REQUEST_STAGES],
  ['a pseudonym', MODERATION_STAGES],
];

/** The stages that any event leads to from these, over any number of others. */
function reached({ stages }: Table, from: readonly string[]): Set<string> {
  const found = new Set(from);
  // A set goes on to what is added meanwhile.
  for (const stage of found)
    for (const to of Object.values(stages[stage]?.next ?? {}).flat()) found.add(to ?? '');
  return found;
}

describe.each(TABLES)('the stages of %s', (_, table) => {
  const names = Object.keys(table.stages);

  it('can all be reached', () => {
    expect([...reached(table, table.first)].toSorted()).toEqual(names.toSorted());
  });

  it('all lead to an end, or to another stage if there is no end', () => {
    const ends = names.filter((name) => Object.keys(table.stages[name]?.next ?? {}).length === 0);
    for (const name of names) {
      const after = reached(table, [name]);
      if (ends.length > 0) expect(ends.filter((end) => after.has(end))).not.toEqual([]);
      else expect(after.size).toBeGreaterThan(1);
    }
  });
});

describe('a move', () => {
  const table: StageTable<'here' | 'there', 'go'> = {
    first: ['here'],
    stages: { here: { means: '', next: { go: ['there'] } }, there: { means: '', next: {} } },
  };

  it('is one of the table', () => {
    expect(() => checkMove(table, 'here', 'go', 'there')).not.toThrow();
    expect(() => checkMove(table, 'here', 'go', 'here')).toThrow('no move from "here" by "go" to "here"');
    expect(() => checkMove(table, 'there', 'go', 'here')).toThrow('no move from "there"');
    expect(stageAfter(table, 'here', 'go')).toBe('there');
    expect(() => stageAfter(table, 'there', 'go')).toThrow('no single move from "there" by "go"');
  });
});
