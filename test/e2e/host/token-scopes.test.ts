/**
 * A token that lacks a scope: the operator is told when it is first used, and the person what the
 * host says.
 */
import { describe, expect, it } from 'vitest';
import { workflowRefused } from '../../../sandbox/known-answers.ts';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({
  botScopes: ['public_repo', 'notifications'],
  env: OPERATOR,
});

const alertTexts = async () => (await new Operator(bed).alerts()).map(({ message }) => message);

describe('a token without the scope workflow', () => {
  it('is told to the operator: by an alert and in the log, once', exhaustive, async () => {
    for (let time = 0; time < 2; time++) {
      const { upstream, clone } = await contribute(bed);
      await clone.commit();
      await expectAccepted(bed, { upstream, clone }, await clone.push());
    }
    const words = /^The token of the bot account at \S+ lacks the scope workflow/;
    await expect.poll(alertTexts).toEqual([expect.stringMatching(words)]);
    const line =
      / something is wrong with the token of the bot account hostName=127\.0\.0\.1:\d+ variable=HOSTING_TOKEN outcome=no-workflow$/;
    await expect.poll(() => bed.logLines).toContainEqual(expect.stringMatching(line));
  });

  it(
    'cannot follow an upstream whose workflows have changed, and the person reads why',
    exhaustive,
    async () => {
      const { upstream, clone, person } = await contribute(bed);
      await clone.commit();
      await expectAccepted(bed, { upstream, clone }, await clone.push());
      await upstream.grow({ files: { '.github/workflows/ci.yml': 'on: push\n' } });
      const fresh = await person.copy(upstream);
      await fresh.commit();
      const pushed = await fresh.push();
      expect(pushed.code).toBe(1);
      expect(pushed.stderr).toContain('push rejected: the fork could not be brought up to date');
      expect(pushed.stderr).toContain(
        'refusing to allow a Personal Access Token to create or update workflow',
      );
      expect(pushed.stderr).not.toContain('does not exist');
    },
  );

  it('cannot push workflows, and the person reads why', exhaustive, async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const path = new RegExp(`/${upstream.name}\\.git/git-receive-pack$`);
    bed.sandbox.faults.inject({
      method: 'POST',
      path: new RegExp(`gitveil-bot${path.source}`),
      answer: workflowRefused('x'),
    });
    const lines = await expectRefused(bed, upstream, await clone.push(), 'the code host refused the commits');
    expect(lines.join('\n')).toContain('without `workflow` scope');
  });
});

describe('an account that the host shows to nobody else', () => {
  it('is told to the operator once, with what to do, while everything goes on', exhaustive, async () => {
    const path = new RegExp(`/users/${bed.sandbox.botLogin}$`);
    bed.sandbox.faults.inject({ method: 'GET', path, times: 3, answer: { status: 404 } });
    for (let minute = 0; minute < 3; minute++) await bed.service.runScheduled();
    const words =
      /^\S+ has flagged the bot account: nobody else sees its .* Sign in to the host as the bot, and ask its support/;
    const flagged = async () => (await alertTexts()).filter((text) => words.test(text));
    await expect.poll(flagged).toHaveLength(1);
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    expect(await flagged()).toHaveLength(1);
  });
});
