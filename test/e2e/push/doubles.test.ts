/**
 * Pushing what a pull request of ours has already: told before it is public, or refused where the
 * operator wants that.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { FormClient } from '../support/form-client.ts';
import type { Clone } from '../support/person.ts';
import { type Banner, bannerOf, remoteLines, statusTable, withoutSecrets } from '../support/push-output.ts';
import { type TestBed, useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

/** A person with a pull request of two commits. */
async function withPullRequest(bed: TestBed) {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit();
  await clone.commit();
  const opened = await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:refs/heads/one'));
  return { ...contribution, ...opened };
}

const pushAgain = ({ clone }: { readonly clone: Clone }, ...options: string[]) =>
  clone.push(...options, 'origin', 'HEAD:refs/heads/more');

/** The first line of a warning. */
const secondLine = (its: string) => `Warning: this would be a SECOND pull request. ${its}`;

const withdrawing = ({ prHash, prKey }: Banner) => `-o withdraw -o pr-hash=${prHash} -o pr-key=${prKey}`;

/** Leaves out the id in a command that pushes the same commits. */
const unnamed = ({ stderr }: { readonly stderr: string }) => stderr.replace(/[0-9a-f]{12}:refs/, ':refs');

/** Changes D1 while the service runs. */
function changeList(stateDir: string, statement: string): void {
  const files = readdirSync(stateDir, { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => /\bd1\/.*\.sqlite$/.test(name) && !name.includes('metadata')) ?? '';
  const database = new DatabaseSync(join(stateDir, file));
  database.exec(`PRAGMA busy_timeout = 5000; ${statement}`);
  database.close();
}

describe('by default', () => {
  const bed = useOwnTestBed();

  it('each commit of an open pull request is recognised, not only its last one', exhaustive, async () => {
    const { clone, pull } = await withPullRequest(bed);
    await clone.git('reset', '--quiet', '--hard', 'HEAD~1');
    await clone.commit();
    const [first] = remoteLines(await pushAgain({ clone }, '-o', 'preview'));
    expect(first).toBe(secondLine(`1 of your 2 commits is already in ${pull.url}.`));
  });

  it(
    'work is known again with another message, a sign-off, or squashed; other work on the same base is not',
    exhaustive,
    async () => {
      const { clone, pull, banner, upstream } = await withPullRequest(bed);
      const told = async (...options: string[]) =>
        remoteLines(await pushAgain({ clone }, '-o', 'preview', ...options));
      const all = secondLine(`Your 2 commits are already in ${pull.url}.`);
      expect((await told('-o', 'sign-off'))[0]).toBe(all);
      await clone.git('commit', '--quiet', '--amend', '--message', 'Another way');
      const [first, , how, update] = await told();
      expect(first).toBe(all);
      expect(how).toBe('To update that one:');
      expect(update).toBe(
        `  git push -o pr-hash=${banner.prHash} ${upstream.url} ${(await clone.idOf('HEAD')).slice(0, 12)}:refs/heads/more`,
      );
      expect(statusTable(await pushAgain({ clone }, '-o', 'delay=1h')).join()).toContain('proposed before');
      expect((await told('-o', 'squash'))[0]).toBe(secondLine(`Your commit is already in ${pull.url}.`));
      await clone.git('reset', '--quiet', '--hard', 'origin/main');
      await clone.commit();
      expect((await told()).join()).not.toContain('SECOND');
    },
  );

  it(
    'a fix that was squashed into its commit is known again by the files it ends with',
    exhaustive,
    async () => {
      const { clone, pull } = await withPullRequest(bed);
      await clone.git('commit', '--quiet', '--allow-empty', '--message', 'Look again');
      const title = await clone.git('log', '-1', '--format=%s', 'HEAD~1');
      await clone.commit({ message: `fixup! ${title}\n` });
      const fixed = bannerOf(await pushAgain({ clone }));
      expect(fixed.prUrl).not.toBe(pull.url);
      await clone.git('-c', 'sequence.editor=:', 'rebase', '--quiet', '-i', '--autosquash', 'origin/main');
      const [first] = remoteLines(await pushAgain({ clone }, '-o', 'preview'));
      expect(first).toBe(secondLine(`Your 3 commits are already in ${fixed.prUrl}.`));
    },
  );

  it('commits that change no file are known again by their messages alone', exhaustive, async () => {
    const { clone, upstream, ...contribution } = await contribute(bed);
    const empty = (message: string) => clone.git('commit', '--quiet', '--allow-empty', '--message', message);
    await empty('Run the checks');
    const { pull } = await expectAccepted(bed, { ...contribution, clone, upstream }, await clone.push());
    expect((await pushAgain({ clone }, '-o', 'preview')).stderr).toContain(`already in ${pull.url}.`);
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await empty('Run them once more');
    await clone.commit();
    expect((await pushAgain({ clone }, '-o', 'preview')).stderr).not.toContain('SECOND');
  });

  it('what an update has brought is recognised, and what it has replaced, too', exhaustive, async () => {
    const { clone, pull, banner } = await withPullRequest(bed);
    const before = await clone.idOf('HEAD');
    await clone.git('commit', '--quiet', '--amend', '--message', 'Another way');
    await clone.commit();
    const updated = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:refs/heads/one');
    expect(updated.code, updated.stderr).toBe(0);
    await clone.commit();
    const [afterUpdate] = remoteLines(await pushAgain({ clone }, '-o', 'preview'));
    expect(afterUpdate).toBe(secondLine(`3 of your 4 commits are already in ${pull.url}.`));
    await clone.git('reset', '--quiet', '--hard', before);
    await clone.commit();
    const [replaced] = remoteLines(await pushAgain({ clone }, '-o', 'preview'));
    expect(replaced).toBe(secondLine(`2 of your 3 commits are already in ${pull.url}.`));
  });

  it(
    'commits that upstream has merged are told, with the command that leaves them out',
    exhaustive,
    async () => {
      const { clone, upstream, pull, ...contribution } = await withPullRequest(bed);
      await bed.sandbox.maintainer.merge({ owner: upstream.owner, repo: upstream.name, number: pull.number });
      await bed.service.runScheduled();
      await clone.git('pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main');
      await clone.commit({ message: 'One thing more' });
      const pushed = withoutSecrets(await pushAgain({ clone }));
      const command = `git pull --rebase ${upstream.url} refs/heads/main`;
      expect(pushed.slice(0, 2)).toEqual([
        `3 of your 4 commits are merged already, with ${pull.url}. This would open a NEW pull request.`,
        'To leave out what is merged:',
      ]);
      expect(pushed[2]).toBe(`  ${command}`);
      // As it stands, also from a detached HEAD.
      await clone.git('checkout', '--quiet', '--detach');
      await clone.git(...command.split(' ').slice(1), '--quiet');
      const rebased = await pushAgain({ clone });
      const { commits } = await expectAccepted(bed, { ...contribution, clone, upstream }, rebased);
      expect(commits.map(({ message }) => message.toString())).toEqual(['One thing more']);
      expect(rebased.stderr).not.toContain('merged already');
    },
  );

  it(
    'commits that upstream has merged are told, too, if their own pull request is named',
    exhaustive,
    async () => {
      const { clone, upstream, pull, banner } = await withPullRequest(bed);
      await bed.sandbox.maintainer.merge({ owner: upstream.owner, repo: upstream.name, number: pull.number });
      const named = ['-o', `pr-hash=${banner.prHash}`];
      for (const options of [['-o', 'preview', ...named], named]) {
        const pushed = withoutSecrets(await clone.push(...options, 'origin', 'HEAD:refs/heads/one'));
        expect(pushed[0]).toBe(
          `Your 2 commits are merged already, with ${pull.url}. This would open a NEW pull request.`,
        );
      }
    },
  );

  it(
    'the maintainers’ no is told, with the page that has their words, and so is what the bot has closed for others',
    exhaustive,
    async () => {
      const { clone, upstream, pull, banner } = await withPullRequest(bed);
      const thread = { owner: upstream.owner, repo: upstream.name, number: pull.number };
      bed.sandbox.maintainer.comment(thread, 'Not wanted, sorry');
      bed.sandbox.maintainer.close(thread);
      await bed.service.runScheduled();
      await clone.git('commit', '--quiet', '--amend', '--message', 'Another way');
      const preview = ['-o', 'preview', '-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:refs/heads/one'];
      const [first = '', second] = remoteLines(await clone.push(...preview));
      expect(first).toContain(`${pull.url} was closed on 20`);
      expect(second).toBe('This would open a NEW pull request.');
      const page = /read what was written: (\S+)$/.exec(first)?.[1] ?? '';
      expect(await (await fetch(page)).text()).toContain('Not wanted, sorry');
      // The command of the banner is what people run.
      const pushed = await clone.push(...banner.command.split(' ').slice(2));
      expect(withoutSecrets(pushed)[0]).toBe(first);
      const { prUrl } = bannerOf(pushed);
      expect(prUrl).not.toBe(pull.url);
      const number = Number(prUrl.split('/').at(-1));
      bed.sandbox.maintainer.close({ ...thread, number }, bed.sandbox.botLogin);
      const after = await clone.push(...preview);
      expect(remoteLines(after)[0]).toMatch(/\/pull\/\d+ was closed; /);
    },
  );

  it(
    'a hash one letter off is asked about, and what is open is told, but once that a new one opens',
    exhaustive,
    async () => {
      const { clone, pull, banner, upstream } = await withPullRequest(bed);
      const near = (banner.prHash.startsWith('a') ? 'b' : 'a') + banner.prHash.slice(1);
      await clone.commit();
      const pushed = withoutSecrets(await pushAgain({ clone }, '-o', `pr-hash=${near}`));
      expect(pushed.slice(0, 2)).toEqual([
        `No pull request of ${upstream.fullName} has that pr-hash, so this would open a NEW one. Did you mean ${banner.prHash}?`,
        secondLine(`2 of your 3 commits are already in ${pull.url}.`),
      ]);
    },
  );

  it(
    'a copy by somebody else does not take the place of the first, and does once that is closed',
    exhaustive,
    async () => {
      const { clone, pull, banner, upstream } = await withPullRequest(bed);
      const copy = await pushAgain({ clone });
      const [first, , , update] = withoutSecrets(copy);
      expect(first).toBe(secondLine(`Your 2 commits are already in ${pull.url}.`));
      expect(update).toContain(`git push -o pr-hash=${banner.prHash} ${upstream.url} `);
      await clone.push(...withdrawing(banner).split(' '), 'origin');
      const [again] = remoteLines(await pushAgain({ clone }, '-o', 'preview'));
      expect(again).toBe(secondLine(`Your 2 commits are already in ${bannerOf(copy).prUrl}.`));
    },
  );
});

describe('while the list of pull requests cannot be read', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-doubles-'));
  afterAll(() => rmSync(stateDir, { recursive: true, force: true }));
  const bed = useOwnTestBed({ stateDir, env: { PUSH_DOUBLES: 'refuse' } });

  it('a push, a preview and one that waits say that it was not checked, and go on', exhaustive, async () => {
    const contribution = await withPullRequest(bed);
    const { clone, upstream } = contribution;
    const line = 'The service could not check whether your commits are open already.';
    await clone.commit();
    changeList(stateDir, 'ALTER TABLE works_by_repository RENAME TO away');
    for (const options of [['preview'], ['delay=1h'], ['draft']]) {
      const pushed = await pushAgain(contribution, ...options.flatMap((option) => ['-o', option]));
      const lines = withoutSecrets(pushed);
      expect(lines[0], pushed.stderr).toBe(line);
      expect(lines.filter((each) => each === line)).toHaveLength(1);
    }
    expect(await bed.host.pulls(upstream)).toHaveLength(2);
    changeList(stateDir, 'ALTER TABLE away RENAME TO works_by_repository');
    expect((await pushAgain(contribution, '-o', 'preview')).stderr).not.toContain(line);
  });
});

describe('with PUSH_DOUBLES=refuse', exhaustive, () => {
  const bed = useOwnTestBed({ env: { PUSH_DOUBLES: 'refuse' } });

  it('the second pull request is refused, and takes no place of the five', async () => {
    const { clone, upstream, pull, banner, ...contribution } = await withPullRequest(bed);
    await clone.commit();
    const lines = [
      `2 of your 3 commits are already in ${pull.url}.`,
      'This service opens no second pull request for them: update that one.',
    ];
    expect(remoteLines(await pushAgain({ clone }, '-o', 'preview'))).toEqual(expect.arrayContaining(lines));
    for (let time = 0; time < 6; time++) {
      const refused = await pushAgain({ clone });
      expect(statusTable(refused)).toEqual([
        ' ! [remote rejected] HEAD -> more (push rejected: the commits are open already)',
      ]);
      expect(remoteLines(refused)).toEqual(expect.arrayContaining(lines));
      expect(refused.stderr).toContain(`git push -o pr-hash=${banner.prHash} ${upstream.url} `);
    }
    const delayed = await pushAgain({ clone }, '-o', 'delay=1h');
    expect(statusTable(delayed).join()).toContain('commits are open already');
    await clone.git('commit', '--quiet', '--amend', '--message', 'Another way');
    expect(statusTable(await pushAgain({ clone }, '-o', 'sign-off')).join()).toContain('are open already');
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
    expect(await bed.host.workBranches(upstream)).toEqual([banner.branch]);
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.commit();
    await expectAccepted(bed, { ...contribution, clone, upstream }, await pushAgain({ clone }));
  });
});

describe('after a restart, with PUSH_DOUBLES=refuse', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-refused-'));
  const bed = useOwnTestBed({ stateDir, env: { PUSH_DOUBLES: 'refuse' } });
  afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

  it(
    'a double, the same push again and a guess of it are refused alike, before anything is made',
    exhaustive,
    async () => {
      const { clone, upstream } = await withPullRequest(bed);
      const push = () => clone.push('origin', 'HEAD:refs/heads/one');
      await bed.restart();
      const made = () => bed.host.requestsFor(upstream, 'POST', /\/forks$|receive-pack$|\/pulls$/);
      const before = made().length;
      const again = await push();
      // The same but for its second: what somebody sends who guesses.
      await clone.git('commit', '--quiet', '--amend', '--no-edit', '--date=@1700000000 +0000');
      const guess = await push();
      expect(statusTable(again)).toEqual([
        ' ! [remote rejected] HEAD -> one (push rejected: the commits are open already)',
      ]);
      expect(unnamed(again)).toBe(unnamed(guess));
      expect(made()).toHaveLength(before);
    },
  );
});

describe('a form, with PUSH_DOUBLES=refuse', () => {
  const bed = useOwnTestBed({ env: { PUSH_DOUBLES: 'refuse' } });

  it('says what is open, in words of its own', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const path = `/v1/gh/${upstream.fullName}/change`;
    const send = async () => {
      const client = new FormClient(bed.service.url, bed.person());
      const { fields } = await client.get(`${path}?path=a.txt&new=1`);
      return client.post(path, { ...fields, text: 'two\n', title: 'Two', step: 'open' });
    };
    const first = await send();
    expect(first.heading, first.problem).toBe('Your pull request is open');
    const [pull] = await bed.host.pulls(upstream);
    const second = await send();
    expect(second.problem).toContain(
      `The same change is open already as ${pull?.url}. This service opens no second pull request for it.`,
    );
    expect(second.html).not.toContain('-o pr-hash');
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });
});

describe('where the repository has no place left', () => {
  const bed = useOwnTestBed({ env: { LIMIT_TARGET: '1/1h' } });

  it('no pull request is announced', exhaustive, async () => {
    const refused = await pushAgain(await withPullRequest(bed));
    expect(statusTable(refused).join()).toContain('too many pull requests for this repository');
    expect(refused.stderr).not.toContain('PR key');
  });
});
