/** What a history's own messages use with ids. */
import { expect, it } from 'vitest';
import { Conventions } from '../../../src/git/search/conventions.ts';
import { commitContent } from '../../support/objects.ts';
import { workOf } from '../../support/work-meter.ts';

const UUID = '019cb9fe-b11b-753f-99e7-8ecc52b73ec4';
const AUTHOR = 'Ada <ada@x.example> 1 +0000';

const contentOf = (message: string) => commitContent({ author: AUTHOR, committer: AUTHOR, message });

it('are the keys of trailers and the servers of links, each once', () => {
  const conventions = new Conventions();
  for (const message of [
    `Mend it\n\nSee https://ci.example/${UUID}\n`,
    `Mend it\n\nLink: https://Lore.kernel.org/r/${UUID}\nAcked-by: A <a@b.example>\n`,
    `Mend it\n\nLink: https://lore.kernel.org/r/${UUID}\nMessage-Id: <${UUID}@x.example>\n`,
  ])
    conventions.add(contentOf(message));
  expect([...conventions.all]).toEqual(['//ci.example', 'link:', '//lore.kernel.org', 'message-id:']);
});

it('are not read in headers', () => {
  const conventions = new Conventions();
  conventions.add(Buffer.from(`tree 1\nx-session: ${UUID}\nhttps://x.example/${UUID}\n\nMend it\n`));
  expect([...conventions.all]).toEqual([]);
});

it('are at most a thousand, of the first messages', async () => {
  const conventions = new Conventions();
  const many = Array.from({ length: 3_000 }, (_, at) => contentOf(`A\n\nFoo-${at}: ${UUID}\n`));
  const { looks } = await workOf(() => many.forEach((content) => conventions.add(content)));
  expect(conventions.all.size).toBe(1_000);
  expect(looks).toBeLessThan(20_000);
});
