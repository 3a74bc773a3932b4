import { expect, it } from 'vitest';
import { folderPage } from '../../../src/pages/forms/folder-page.ts';

const pageOf = async (path: string, count: number): Promise<string> => {
  const entries = Array.from({ length: count }, (_, at) => {
    const whole = `${path}${at}`;
    return { kind: 'file', name: whole, path: whole } as const;
  });
  const place = { repository: 'octo/hello', home: '/v1/gh/octo/hello', action: '/v1/gh/octo/hello/change' };
  const listed = { path: 'x', folder: '', prHash: '', problem: null, entries, begun: null };
  return (await folderPage({ ...place, ...listed }).content).toString();
};

it('lists a thousand files, and says how many there are besides', async () => {
  const html = await pageOf('docs/guide', 1_200);
  expect(html.match(/<li>/g)).toHaveLength(1_000);
  expect(html).toContain('There are 200 more. Name the file above.');
});

it('stays small, however long the paths are', async () => {
  const html = await pageOf('&'.repeat(4_000), 1_000);
  expect(html.length).toBeLessThan(6_000_000);
  expect(html).toMatch(/There are 8\d\d more\. Name the file above\./);
});
