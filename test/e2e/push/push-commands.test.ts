/**
 * Commands that a client can send besides: tags, several branches, deletions, options, and answers
 * for old clients.
 */
import { describe, expect, it } from 'vitest';
import { wallFindings } from '../../../local/operator/wall-check.ts';
import type { Config } from '../../../src/config/config.ts';
import { type Contribution, contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import type { Clone } from '../support/person.ts';
import { bannerOf, remoteLines, statusTable } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import { readReport, readStatus } from '../../support/pkt-line.ts';

const bed = useTestBed();

const TAG_REASON = 'tags are not accepted, because they contain a name: push a branch';

/** Makes an annotated tag. */
async function tag(clone: Clone, name: string, of = 'HEAD'): Promise<void> {
  await clone.git('tag', '-a', '-m', `Release ${name}`, name, of);
}

describe('tags', () => {
  it('are refused one by one and never leave the service, while the branch is taken', async () => {
    const contribution = await contribute(bed);
    const { clone, person, upstream } = contribution;
    await clone.commit();
    await tag(clone, 'v1');
    await clone.commit();
    await tag(clone, 'v2');
    const pushed = await clone.push('--follow-tags', 'origin', `HEAD:refs/heads/${person.branch}`);
    expect(pushed.code).toBe(1);
    expect(statusTable(pushed)).toEqual([
      ` * [new branch]      HEAD -> ${person.branch}`,
      ` ! [remote rejected] v1 -> v1 (${TAG_REASON})`,
      ` ! [remote rejected] v2 -> v2 (${TAG_REASON})`,
    ]);
    await expectAccepted(bed, contribution, { ...pushed, code: 0 });
    const [sent] = await bed.host.pushes(upstream);
    expect(sent?.objects.map(({ type }) => type)).not.toContain('tag');
    expect(sent?.announcedObjects).toBe(sent?.objects.length);
  });

  it('are not branches by another name, and the command that is told pushes the commit', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    await tag(clone, 'v1');
    await tag(clone, 'of-a-tag', 'v1');
    const pushed = await clone.push('origin', 'of-a-tag:refs/for/main');
    const reason = 'tags are not accepted, because they contain a name';
    const lines = await expectRefused(bed, upstream, pushed, reason);
    const [, words = ''] = /^ {2}git push (.+)$/m.exec(lines.join('\n')) ?? [];
    await expectAccepted(bed, contribution, await clone.push(...words.split(' ')));
  });
});

describe('several branches', () => {
  it('are refused but for the first, which is taken if it holds the others', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    await clone.git('branch', 'inner');
    const whole = await clone.commit();
    await clone.git('branch', 'a-whole');
    const pushed = await clone.push('origin', 'a-whole', 'inner');
    expect(pushed.code).toBe(1);
    expect(statusTable(pushed)).toEqual([
      ' * [new branch]      a-whole -> a-whole',
      ' ! [remote rejected] inner -> inner (one branch per push: push this one separately)',
    ]);
    await expectAccepted(bed, contribution, { ...pushed, code: 0 }, { tip: whole });
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });
});

describe('other refs and ways to push', () => {
  it('take a forced push onto the name of a branch that upstream has moved on', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow();
    await clone.commit();
    const pushed = await clone.push('--force', 'origin', 'HEAD:main');
    expect((await expectAccepted(bed, contribution, pushed)).pull.base).toBe('main');
  });
});

describe('push options', () => {
  it('that are unknown are named in a line, and the push goes on', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const pushed = await contribution.clone.push('-o', 'ci.skip', '-o', 'reviewer=1', 'origin', 'HEAD:topic');
    await expectAccepted(bed, contribution, pushed);
    const told = remoteLines(pushed).filter((line) => line.includes(' unknown and ignored. '));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(
      /^The push options "ci\.skip" and 1 more are unknown and ignored\. Known options: pr-hash=, /,
    );
  });
});

/** Pushes one commit as a client without some capabilities does. Answers the body. */
async function pushedWith(capabilities: string, { clone, person, upstream }: Contribution): Promise<Buffer> {
  const newId = await clone.commit();
  const pack = await packOf(clone, ['HEAD', '^origin/main']);
  const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], capabilities, pack });
  const answer = await sendPush(upstream.url, person, body);
  expect(answer.headers['content-type']).toBe('application/x-git-receive-pack-result');
  return answer.body;
}

describe('a client', () => {
  it('without side-band gets a plain report-status', async () => {
    const contribution = await contribute(bed);
    const answer = await pushedWith('report-status', contribution);
    expect(readStatus(answer)).toEqual(['unpack ok', 'ok refs/heads/topic']);
    await bed.host.onlyPull(contribution.upstream);
  });

  it('without side-band reads in its report why it was refused', async () => {
    const answer = await pushedWith('report-status', await contribute(bed, { archived: true }));
    const reason = 'push rejected: the repository is archived';
    expect(readStatus(answer)).toEqual(['unpack ok', `ng refs/heads/topic ${reason}`]);
  });

  it('that asks for no report gets the banner and nothing else', async () => {
    const contribution = await contribute(bed);
    const { progress, report } = readReport(await pushedWith('side-band-64k', contribution));
    expect(report).toEqual([]);
    const { prUrl } = bannerOf({ stderr: progress.map((line) => `remote: ${line}`).join('\n') });
    expect((await bed.host.onlyPull(contribution.upstream)).url).toBe(prUrl);
  });
});

it('the requests by which doctor looks for a wall are answered, and reach no code host', async () => {
  const asked = { serviceUrl: bed.service.url, isServiceUrlGiven: true } as Config;
  expect(await wallFindings(asked)).toMatchObject([{ state: 'ok' }]);
  expect(bed.host.requestsFor({ name: 'gitveil-asks-for-a-wall' }, 'GET', /./)).toEqual([]);
});
