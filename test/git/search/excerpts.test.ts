/** Where a span stands, in hostile files and folders. */
import { describe, expect, it } from 'vitest';
import { linesAt } from '../../../src/git/search/excerpts.ts';
import { treeContent } from '../../support/objects.ts';
import { oidOf } from '../../support/pack-builder.ts';
import { NAME, namesOf } from '../../support/pack-searching.ts';

const names = namesOf(`${NAME} <ada@x.example>`);

describe('lines', () => {
  it('of a folder are short, however long it says that a name is, with and without an end', () => {
    const long = `${NAME} `.repeat(5_000);
    const folder = treeContent([{ name: long, oid: oidOf('blob', Buffer.from('')) }]);
    for (const content of [folder, Buffer.from(`100644 ${long}`)]) {
      const lines = [...linesAt({ type: 'tree', content }, names.spansIn(content))];
      expect(lines).toHaveLength(5_000);
      expect(
        Math.max(...lines.map(({ excerpt, line }) => excerpt.length + (line?.length ?? 0))),
      ).toBeLessThan(160);
    }
  });

  it('are made one by one, as each of many names in one has the whole', () => {
    const content = Buffer.from(`${NAME} `.repeat(50));
    const spans = names.spansIn(content).values();
    const [first] = linesAt({ type: 'blob', content }, spans);
    expect(first?.line).toBe(content.toString().trim());
    expect([...spans]).toHaveLength(49);
  });
});
