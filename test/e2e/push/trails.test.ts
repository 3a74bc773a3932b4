/** Trails that tools write into messages without being asked, pushed with the real Git. */
import { expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import { bannerOf, remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';

const bed = useTestBed();

const UUID = '019cb9fe-b11b-753f-99e7-8ecc52b73ec4';
const SESSION = `Amp-Thread-ID: https://ampcode.com/threads/T-${UUID}`;
const HEADING = 'A tool has written the id of your session into a message. It leads to your account:';

it('the id of a session refuses a push; the printed option publishes it without the line', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit({ message: `Mend it\n\nIt was broken.\n\n${SESSION}\n` });
  const reason = 'the id of a session of yours would become public';
  const lines = await expectRefused(bed, upstream, await clone.push(), reason);
  expect(lines).toContain(HEADING);
  expect(lines).toContain(`  message of "Mend it": ${SESSION}`);
  expect(lines.join('\n')).toContain('add: -o strip-trails');

  const strip = ['-o', 'strip-trails', 'origin', 'HEAD:topic'];
  const preview = remoteLines(await clone.push('-o', 'preview', ...strip)).join('\n');
  expect(preview).toContain('It was broken.');
  expect(preview).not.toContain('Amp-Thread-ID');
  const published = await clone.push(...strip);
  expect(published.code, published.stderr).toBe(0);
  const fork = bed.host.forkPath(upstream) as string;
  const commits = await readHistory(fork, '^main', bannerOf(published).branch);
  expect(commits.map(({ message }) => message.toString())).toEqual(['Mend it\n\nIt was broken.\n']);
  expect(remoteLines(published)).not.toContain(HEADING);
  expect(remoteLines(published).at(-1)).toContain(' -o strip-trails ');
});

it('what upstream’s messages have is left alone, or only told', async () => {
  const upstream = await bed.createUpstream();
  const link = 'https://lore.example/r/20231010123456.12345-1';
  await upstream.grow({ message: `Add it\n\nLink: ${link}\n${SESSION}\n` });
  const contribution = { upstream, clone: await bed.person().copy(upstream) };
  const own = `Link: https://lore.example/r/01AbCd23EfGh45IjKl67MnOp`;
  await contribution.clone.commit({ message: `Mend it\n\n${own}\n${SESSION}\n` });
  const published = await contribution.clone.push();
  const { commits } = await expectAccepted(bed, contribution, published);
  expect(commits.map(({ message }) => message.toString()).join()).toContain(own);
  const lines = remoteLines(published).join('\n');
  expect(lines).toContain(`  message of "Mend it": ${SESSION}`);
  expect(lines).not.toContain('lore.example');
});
