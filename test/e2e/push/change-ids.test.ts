/**
 * A Change-Id, as Gerrit's hook writes it into messages, is a hash over the committer's name,
 * address, second and zone. So it is treated like an original commit id.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import type { Clone } from '../support/person.ts';
import { remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const bed = useTestBed();

const REASON = 'a Change-Id would become public';
const HEADING = 'A Change-Id would become public:';
const CHANGE_ID = `Change-Id: I${'0123456789'.repeat(4)}`;

/** A hook that does what Gerrit's does. */
function addHook({ path }: Clone): void {
  const hook = join(path, '.git/hooks/commit-msg');
  mkdirSync(dirname(hook), { recursive: true });
  const lines = [
    '#!/bin/sh',
    '[ "$(git config --bool gerrit.createChangeId)" = false ] && exit',
    'id=$( (git var GIT_COMMITTER_IDENT; cat "$1") | git hash-object --stdin)',
    'git interpret-trailers --in-place --if-exists doNothing --trailer "Change-Id: I$id" "$1"',
  ];
  writeFileSync(hook, `${lines.join('\n')}\n`);
  chmodSync(hook, 0o755);
}

it('in messages is refused with the commits’ titles, and both ways on work', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  addHook(clone);
  await clone.commit({ message: 'One\n' });
  await clone.commit({ message: 'Two\n' });
  const ids = (await clone.git('log', '--format=%B')).match(/Change-Id: I[0-9a-f]{40}/g) ?? [];
  expect(ids).toHaveLength(2);
  const lines = await expectRefused(bed, upstream, await clone.push(), REASON);
  expect(lines).toContain(HEADING);
  expect(lines).toContain(`  message of "Two": ${ids[0]}`);
  expect(lines).toContain(`  message of "One": ${ids[1]}`);
  expect(lines).toContain('To publish it anyway, add: -o publish-names');
  expect(lines.join('\n')).toContain('"git -c gerrit.createChangeId=false commit --amend"');
  expect(lines.join('\n')).toContain(
    'from a commit of upstream? Then it is public already, and its line can be deleted',
  );
  expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$/)).toEqual([]);

  const published = await clone.push('-o', 'publish-names', 'origin', 'HEAD:topic');
  const { commits } = await expectAccepted(bed, contribution, published);
  expect(remoteLines(published)).toContain(HEADING);
  expect(commits.map(({ message }) => message.toString()).join()).toContain(ids[0]);

  const rewording = ['sequence.editor=sed -i s/^pick/reword/', 'core.editor=sed -i /^Change-Id/d'];
  const settings = ['gerrit.createChangeId=false', ...rewording].flatMap((setting) => ['-c', setting]);
  await clone.git(...settings, 'rebase', '--quiet', '-i', 'origin/main');
  expect((await clone.push('--force', 'origin', 'HEAD:topic')).code).toBe(0);
});

it('of a commit that is squashed away, or of upstream’s, does not matter', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await upstream.grow({ message: `Theirs\n\n${CHANGE_ID}\n` });
  await clone.git('pull', '--quiet', '--ff-only');
  await clone.commit({ message: `One\n\n${CHANGE_ID}\n` });
  await clone.commit({ message: 'Two\n' });
  const pushed = await clone.push('-o', 'squash', 'origin', 'HEAD:topic');
  expect(pushed.code, pushed.stderr).toBe(0);
  const { headSha } = await bed.host.onlyPull(upstream);
  const [commit] = await readHistory(bed.host.forkPath(upstream) as string, headSha, '^main');
  expect(commit?.message.toString()).toBe('Two\n');
});

it('of upstream’s commits that travel in the pack does not matter', exhaustive, async () => {
  const { clone, person, upstream } = await contribute(bed);
  await upstream.grow({ message: `Theirs\n\n${CHANGE_ID}\n` });
  await clone.git('pull', '--quiet', '--ff-only');
  await clone.commit({ message: 'One\n' });
  const newId = await clone.git('rev-parse', 'HEAD');
  const pack = await packOf(clone, ['HEAD']);
  const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack });
  const { report } = readReport((await sendPush(upstream.url, person, body)).body);
  expect(report).toEqual(['unpack ok', 'ok refs/heads/topic']);
});
