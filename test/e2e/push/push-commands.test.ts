/** What else a client can ask for in a push: tags, several branches, deletions, options, and answers for old clients. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import type { Clone } from '../support/person.ts';
import { bannerOf, remoteLines, statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import {
  packOf,
  pkt,
  pushBody,
  readPkts,
  readPushAnswer,
  readReport,
  sendPush,
  ZERO_ID,
} from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { SERVICE_URL: 'https://veil.example' } });

const TAG_REASON = 'tags are not accepted, because they contain a name: push a branch';

/** An annotated tag of HEAD. */
async function tag(clone: Clone, name: string): Promise<void> {
  await clone.git('tag', '-a', '-m', `Release ${name}`, name);
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

  it('in chains are dropped, too', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    await tag(clone, 'v1');
    await clone.git('tag', '-a', '-m', 'A tag of a tag', 'v1-again', 'v1');
    const pushed = await clone.push('origin', 'HEAD:refs/heads/topic', 'v1', 'v1-again');
    expect(statusTable(pushed)).toHaveLength(3);
    await expectAccepted(bed, contribution, { ...pushed, code: 0 });
    const [sent] = await bed.host.pushes(upstream);
    expect(sent?.objects.map(({ type }) => type).toSorted()).toEqual(['blob', 'commit', 'tree']);
  });

  it.each(['v1', 'light'])('alone (%s) are refused, and nothing is done', async (name) => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    await tag(clone, 'v1');
    await clone.git('tag', 'light');
    const pushed = await clone.push('origin', name);
    expect(pushed.code).toBe(1);
    expect(statusTable(pushed)).toEqual([` ! [remote rejected] ${name} -> ${name} (${TAG_REASON})`]);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(bed.host.requestsFor(upstream, 'POST', /forks|receive-pack/)).toEqual([]);
  });

  it('are not branches by another name', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    await tag(clone, 'v1');
    const pushed = await clone.push('origin', 'v1:refs/for/main');
    expect(pushed.code).toBe(1);
    expect(await bed.host.pulls(upstream)).toEqual([]);
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

  it('can follow, one push each', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    for (const name of ['one', 'two']) {
      await clone.commit();
      await expectAccepted(bed, contribution, await clone.push('origin', `HEAD:refs/heads/${name}`));
    }
    expect(await bed.host.pulls(upstream)).toHaveLength(2);
  });
});

describe('deletions', () => {
  it('are refused, and nothing is done', async () => {
    const { clone, upstream } = await contribute(bed);
    const pushed = await clone.push('origin', '--delete', 'main');
    expect(pushed.code).toBe(1);
    expect(statusTable(pushed)).toEqual([
      ' ! [remote rejected] main (nothing to delete: to withdraw a pull request add -o pr-hash=<hash>)',
    ]);
    expect(await upstream.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(bed.host.requestsFor(upstream, 'POST', /forks|receive-pack/)).toEqual([]);
  });

  it('beside a branch are refused, while the branch is taken', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    const pushed = await clone.push('origin', ':refs/heads/main', 'HEAD:refs/heads/topic');
    expect(statusTable(pushed).toSorted()).toEqual([
      ' ! [remote rejected] main (nothing to delete: to withdraw a pull request add -o pr-hash=<hash>)',
      ' * [new branch]      HEAD -> topic',
    ]);
    await expectAccepted(bed, contribution, { ...pushed, code: 0 });
  });
});

describe('other refs and ways to push', () => {
  it.each(['refs/notes/commits', 'refs/changes/01/1/1', 'refs/pull/1/head'])('refuse %s', async (ref) => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    const pushed = await clone.push('origin', `HEAD:${ref}`);
    expect(pushed.code).toBe(1);
    expect(statusTable(pushed)).toEqual([` ! [remote rejected] HEAD -> ${ref} (only branches are accepted)`]);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it.each([
    ['--force'],
    ['--force-with-lease'],
    ['--no-verify'],
    ['--progress'],
    ['--signed=if-asked'],
    ['--ipv4'],
  ])('take a push with %s', async (option) => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const pushed = await contribution.clone.push(option, 'origin', 'HEAD:refs/heads/topic');
    await expectAccepted(bed, contribution, pushed);
  });

  it.each([['--atomic'], ['--signed=yes']])('do not offer %s, and Git says so', async (option) => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    const pushed = await clone.push(option, 'origin', 'HEAD:refs/heads/topic');
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toMatch(/the receiving end does not support --(atomic|signed) push/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

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

  it.each([
    ['too short', ['pr-hash=abc123']],
    ['not hexadecimal', ['pr-hash=xyz12345']],
    ['too long', [`pr-hash=${'a'.repeat(41)}`]],
    ['empty', ['pr-hash=']],
    ['without a value', ['pr-hash']],
    ['a path', ['pr-hash=../../main']],
    ['two different ones', ['pr-hash=aaaaaaaa', 'pr-hash=bbbbbbbb']],
  ])('with a pr-hash that is %s are refused before anything is done', async (_, options) => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    const args = options.flatMap((option) => ['-o', option]);
    await expectRefused(bed, upstream, await clone.push(...args, 'origin', 'HEAD:topic'), /pr-hash/);
    expect(bed.host.requestsFor(upstream, 'POST', /forks|receive-pack/)).toEqual([]);
  });

  it('that nearly are one of ours are refused before anything is done, so "previw" publishes nothing', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    const pushed = await clone.push('-o', 'previw', 'origin', 'HEAD:topic');
    await expectRefused(
      bed,
      upstream,
      pushed,
      'push option "previw" is unknown: did you mean preview? Correct it or leave it out',
    );
    expect(bed.host.requestsFor(upstream, 'POST', /forks|receive-pack|pulls/)).toEqual([]);
  });
});

describe('a client', () => {
  it('without side-band gets a plain report-status', async () => {
    const { clone, person, upstream } = await contribute(bed);
    await clone.commit();
    const newId = await clone.git('rev-parse', 'HEAD');
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const commands = [{ newId, ref: 'refs/heads/topic' }];
    const answer = await sendPush(
      upstream.url,
      person,
      pushBody({ commands, capabilities: 'report-status', pack }),
    );
    expect(answer.headers['content-type']).toBe('application/x-git-receive-pack-result');
    expect(readReport(answer.body)).toEqual(['unpack ok', 'ok refs/heads/topic']);
    await bed.host.onlyPull(upstream);
  });

  it('without side-band reads in its report why it was refused', async () => {
    const { clone, person, upstream } = await contribute(bed, { archived: true });
    await clone.commit();
    const newId = await clone.git('rev-parse', 'HEAD');
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const commands = [{ newId, ref: 'refs/heads/topic' }];
    const answer = await sendPush(
      upstream.url,
      person,
      pushBody({ commands, capabilities: 'report-status', pack }),
    );
    expect(readReport(answer.body)).toEqual([
      'unpack ok',
      'ng refs/heads/topic push rejected: the repository is archived',
    ]);
  });

  it('that asks for no report gets the banner and nothing else', async () => {
    const { clone, person, upstream } = await contribute(bed);
    await clone.commit();
    const newId = await clone.git('rev-parse', 'HEAD');
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const commands = [{ newId, ref: 'refs/heads/topic' }];
    const body = pushBody({ commands, capabilities: 'side-band-64k', pack });
    const { progress } = readPushAnswer(await sendPush(upstream.url, person, body));
    const { prUrl } = bannerOf({ stderr: progress.map((line) => `remote: ${line}`).join('\n') });
    expect((await bed.host.onlyPull(upstream)).url).toBe(prUrl);
  });

  it('that spells commands with a line feed behind them is understood', async () => {
    const { clone, person, upstream } = await contribute(bed);
    await clone.commit();
    const newId = await clone.git('rev-parse', 'HEAD');
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const body = pushBody({
      commands: [{ newId, ref: 'refs/heads/topic' }],
      capabilities: 'report-status side-band-64k object-format=sha1 agent=JGit/6.0\n',
      pack,
    });
    const { report } = readPushAnswer(await sendPush(upstream.url, person, body));
    expect(report).toEqual(['unpack ok', 'ok refs/heads/topic']);
  });

  it('written by hand may name its options before the flush, and leave out the section behind it', async () => {
    const { clone, person, upstream } = await contribute(bed);
    const capabilities = 'report-status side-band-64k push-options';
    const push = async (...options: string[]) => {
      await clone.commit();
      const newId = await clone.git('rev-parse', 'HEAD');
      const body = Buffer.concat([
        pkt(`${ZERO_ID} ${newId} refs/heads/main\0 ${capabilities}`),
        ...options.map((option) => pkt(`${option}\n`)),
        pkt(null),
        await packOf(clone, ['HEAD', '^origin/main']),
      ]);
      return readPushAnswer(await sendPush(upstream.url, person, body));
    };
    const opened = await push();
    expect(opened.report).toEqual(['unpack ok', 'ok refs/heads/main']);
    const { prHash } = bannerOf({ stderr: opened.progress.map((line) => `remote: ${line}`).join('\n') });
    const updated = await push(`pr-hash=${prHash}`);
    expect(updated.report).toEqual(['unpack ok', 'ok refs/heads/main']);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
    const [pull] = await bed.host.pulls(upstream);
    expect(pull?.head).toMatch(new RegExp(`:anon-${prHash}$`));
    expect(updated.progress.join('\n')).toContain(pull?.url);
  });

  it('gets an answer in the framing of the contract, byte for byte', async () => {
    const { clone, person, upstream } = await contribute(bed);
    await clone.git('tag', '-a', '-m', 'x', 'v1');
    const newId = await clone.git('rev-parse', 'v1');
    const pack = await packOf(clone, ['v1', '^origin/main']);
    const body = pushBody({ commands: [{ newId, ref: 'refs/tags/v1' }], pack });
    const answer = await sendPush(upstream.url, person, body);
    const report = `000eunpack ok\n0056ng refs/tags/v1 ${TAG_REASON}\n0000`;
    const packets = readPkts(answer.body);
    expect(packets.at(-1)).toBeNull();
    const band1 = packets
      .filter((packet) => packet?.[0] === 1)
      .map((packet) => packet?.subarray(1).toString());
    expect(band1.join('')).toBe(report);
  });

  it('may name the old id of a branch that upstream has', async () => {
    const { clone, person, upstream } = await contribute(bed);
    const oldId = await upstream.tip();
    await clone.commit();
    const newId = await clone.git('rev-parse', 'HEAD');
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const commands = [
      { oldId, newId, ref: 'refs/heads/main' },
      { oldId, newId: ZERO_ID, ref: 'refs/heads/other' },
    ];
    const { report } = readPushAnswer(await sendPush(upstream.url, person, pushBody({ commands, pack })));
    expect(report.slice(0, 2)).toEqual(['unpack ok', 'ok refs/heads/main']);
    expect(report[2]).toMatch(/^ng refs\/heads\/other nothing to delete/);
  });
});

describe('the command of the banner', () => {
  it('has the public address of a service whose proxy ends TLS', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    const pushed = await clone.tryGit(
      '-c',
      'http.extraHeader=Host: veil.example',
      'push',
      'origin',
      'HEAD:fix',
    );
    expect(bannerOf(pushed).command).toContain(` https://veil.example/v1/gh/${upstream.fullName} `);
  });
});
