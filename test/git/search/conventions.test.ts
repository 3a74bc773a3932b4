/** Conventions by which a history's own messages use ids. */
import { expect, it } from 'vitest';
import { Conventions } from '../../../src/git/search/conventions.ts';
import { commitContent } from '../../support/objects.ts';
import { workOf } from '../../support/work-meter.ts';

const AUTHOR = 'Ada <ada@x.example> 1 +0000';

const contentOf = (message: string) => commitContent({ author: AUTHOR, committer: AUTHOR, message });

it('are the keys of trailers and the servers of links, each once', () => {
  const conventions = new Conventions();
  for (const message of [
    'Mend it\n\nSee https://CI.example:8080/1, git://me@git.example/x\n',
    'x86: mend it\n\nLink: https://lore.kernel.org/r/1\nAcked-by: A <a@b.example>\n',
    'Mend it\n\nlink : https://lore.kernel.org/r/2\nhttps://ci.example\n',
  ])
    conventions.add(contentOf(message));
  expect([...conventions.all].toSorted()).toEqual(
    ['//ci.example', '//git.example', '//lore.kernel.org', 'acked-by:', 'link:'].toSorted(),
  );
});

it('are not read in headers', () => {
  const conventions = new Conventions();
  conventions.add(Buffer.from('tree 1\nx-session: 1\nhttps://x.example/1\n\nMend it\n'));
  expect([...conventions.all]).toEqual([]);
});

it('are at most a thousand, of the first messages', async () => {
  const conventions = new Conventions();
  const many = Array.from({ length: 3_000 }, (_, at) => contentOf(`A\n\nFoo-${at}: 1\n`));
  const { looks } = await workOf(() => many.forEach((content) => conventions.add(content)));
  expect(conventions.all.size).toBe(1_000);
  expect(looks).toBeLessThan(20_000);
});

it('are read in a bounded number of matches, and a bounded number of bytes', async () => {
  for (const part of ['a:\n', ' https://a.example']) {
    const conventions = new Conventions();
    const content = contentOf(`A\n\n${part.repeat(6_000)}`);
    const many = Array.from({ length: 300 }, () => content);
    const { looks, characters } = await workOf(() => many.forEach((each) => conventions.add(each)));
    expect(conventions.all.size).toBe(1);
    expect(looks).toBeLessThan(20_000);
    // Titles, headers and bodies are looked for, and both patterns and the small letters.
    expect(characters).toBeLessThan(6 * 1024 * 1024);
  }
});

it('are of whole messages of a usual length, as many as fit into a mebibyte', () => {
  const conventions = new Conventions();
  const filler = 'words of a usual message\n'.repeat(24);
  for (let at = 0; at < 900; at++) conventions.add(contentOf(`A\n\n${filler}Key-${at}: 1\n`));
  expect(conventions.all.size).toBe(900);
});
