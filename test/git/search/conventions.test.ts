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
