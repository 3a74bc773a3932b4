/** A repository's `.gitveil.yml` before pushes, comments and issues. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { FormClient, wordsOf } from '../support/form-client.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const withPolicy = (upstream: Upstream, policy: string) =>
  upstream.grow({ files: { '.gitveil.yml': policy } });

/** Tries an issue, and a comment on it; answers what was said to each. */
async function speak({ fullName }: { fullName: string }): Promise<Record<'issue' | 'comment', string>> {
  const post = async (path: string) => {
    const body = JSON.stringify({ title: 'A title', body: 'Some words' });
    const response = await fetch(`${bed.service.url}/v1/gh/${fullName}${path}`, { method: 'POST', body });
    const { error = 'accepted' } = await response.json<{ error?: string }>();
    return `${response.status} ${error}`;
  };
  return { issue: await post('/issues/anonymous'), comment: await post('/issues/1/comments/anonymous') };
}

describe('a repository that accepts no pull requests', () => {
  it('refuses a push in-band, names its policy, and gets no fork', async () => {
    const { upstream, clone } = await contribute(bed);
    await withPolicy(upstream, 'accept: [issues, comments]\n');
    await clone.commit();
    const pushed = await clone.push();
    const lines = await expectRefused(bed, upstream, pushed, 'not accepted by the repository');
    expect(lines).toContain(
      `${upstream.fullName} does not accept anonymous pull requests, only issues and comments: its .gitveil.yml says so.`,
    );
    expect(bed.host.forkPath(upstream)).toBeNull();
    expect(await speak(upstream)).toEqual({ issue: '200 accepted', comment: '200 accepted' });
  });
});

describe('a repository that wants to know where pull requests come from', exhaustive, () => {
  it('is told below what the author says, also after an update', async () => {
    const { upstream, clone } = await contribute(bed);
    await withPolicy(upstream, 'pull_request_footer: true\n');
    await clone.commit();
    const pushed = await clone.push('-o', 'description=Words', 'origin', 'HEAD:topic');
    const { pull, banner } = await expectAccepted(bed, { upstream, clone }, pushed);
    const { owner, name } = upstream;
    const body = async () =>
      (await bed.host.call<{ body: string }>('GET', `/repos/${owner}/${name}/pulls/${pull.number}`)).body;
    const line = `*This is an anonymous contribution made via [gitveil](${bed.service.url}).*`;
    const rest = /\n\*\[What maintainers should know\]\(https?:\S+\/maintainers\)\*$/;
    expect(await body()).toContain(`Words\n\n---\n${line}`);
    expect(await body()).toMatch(rest);
    const { prHash, prKey } = banner;
    const options = ['-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`, '-o', 'description=Other words'];
    await clone.commit();
    expect((await clone.push(...options, 'origin', 'HEAD:topic')).code).toBe(0);
    expect(await body()).toContain(`Other words\n\n---\n${line}`);
  });
});

describe('a repository that accepts pull requests only', () => {
  it('takes a push, and neither issues nor comments', async () => {
    const { upstream, clone } = await contribute(bed);
    await withPolicy(upstream, 'accept:\n  - pull_requests\n');
    const says = `${upstream.fullName} does not accept anonymous`;
    expect(await speak(upstream)).toEqual({
      issue: `403 ${says} issues, only pull requests: its .gitveil.yml says so.`,
      comment: `403 ${says} comments, only pull requests: its .gitveil.yml says so.`,
    });
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push());
  });
});

describe('a policy', () => {
  it('is read without a call of the account, for pages and badges, also of repositories that are not there', async () => {
    const friendly = await bed.createUpstream();
    await withPolicy(friendly, 'anonymous_friendly: true\naccept: [issues]\n');
    const plain = await bed.createUpstream();
    const before = bed.host.requests.length;
    const shown = async (path: string) =>
      (await fetch(`${bed.service.url}${path}`, { headers: { Accept: 'text/html' } })).text();
    expect(await shown(`/v1/gh/${friendly.fullName}`)).toContain('It accepts only anonymous issues.');
    expect(await shown(`/v1/gh/${plain.fullName}`)).toContain('Change a file');
    await shown('/v1/gh/octo/nowhere');
    const badge = await shown(`/badges/anonymous-friendly.svg?repo=${encodeURIComponent(friendly.fullName)}`);
    expect(badge).toContain('verified');
    const asked = bed.host.requests.slice(before).map(({ path }) => path);
    // An earlier push may still be told.
    const paths = asked.filter((path) => !path.startsWith('/ntfy/'));
    // Only the list of open issues takes calls of the account: what is public, and what is open.
    const calls = [friendly, plain].flatMap(({ fullName }) => [
      `/api/v3/repos/${fullName}`,
      `/api/v3/repos/${fullName}/issues?per_page=30&state=open`,
    ]);
    expect(paths.filter((path) => !path.endsWith('/git-upload-pack'))).toEqual(calls);
    // The tip, the commit, the folder and the file; the owner's tip; that of one that is not there;
    // and again without the folder for the badge, which the owner's file does not concern.
    expect(paths).toHaveLength(4 + 3 + 1 + 1 + 3 + calls.length);
  });

  it('has all its options in the command on the page of the repository', async () => {
    const upstream = await bed.createUpstream();
    await withPolicy(upstream, 'sign_off: required\nai_disclosure: required\nissue: required\n');
    const { html } = await new FormClient(bed.service.url, bed.person()).get(`/v1/gh/${upstream.fullName}`);
    const options = "-o sign-off -o 'ai=<none, assisted or generated>' -o 'issue=<number>'";
    expect(wordsOf({ html })).toContain(`git push ${options} ${upstream.url} HEAD:refs/heads/my-change`);
  });

  it('is asked for by a push in one round trip, beside its other questions', async () => {
    const { upstream, clone } = await contribute(bed);
    await withPolicy(upstream, 'accept: [pull_requests]\n');
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    const pushed = bed.host.requestsFor(upstream, 'POST', /\/git-upload-pack$/);
    // The list of refs, and of history. No folder, no file.
    const wants = pushed.filter(({ body }) => /want/.test(body.toString()));
    expect(wants.map(({ body }) => /deepen-since|$/.exec(body.toString())?.[0])).toEqual(['deepen-since']);
    expect(bed.host.requestsFor(upstream, 'GET', /\/contents\/\.gitveil\.yml$/)).toHaveLength(1);
  });

  it('of a private repository that the bot may see is nobody else’s business', async () => {
    const upstream = await bed.createUpstream({ owner: bed.sandbox.botLogin, private: true });
    await withPolicy(upstream, 'accept: false\n');
    expect(await speak(upstream)).toEqual({
      issue: '400 failed to create issue: 404 Not Found',
      comment: '400 failed to create comment: 404 Not Found',
    });
  });
});

describe('a file of the owner', () => {
  it('counts where a repository has none, and names itself; the own file wins whole', async () => {
    const owner = 'octo-org';
    const { upstream, clone } = await contribute(bed, { owner });
    const owners = await bed.createUpstream({ owner, name: '.github' });
    await withPolicy(owners, 'accept: [issues]\nanonymous_friendly: true\n');
    await clone.commit();
    const lines = await expectRefused(bed, upstream, await clone.push(), 'not accepted by the repository');
    expect(lines).toContain(
      `${upstream.fullName} does not accept anonymous pull requests, only issues: the .gitveil.yml of octo-org/.github says so.`,
    );
    const badge = await fetch(
      `${bed.service.url}/badges/anonymous-friendly.svg?repo=${encodeURIComponent(upstream.fullName)}`,
    );
    expect(await badge.text()).toContain('#9E9E9E');
    const own = await contribute(bed, { owner });
    await withPolicy(own.upstream, 'workflows: false\n');
    await own.clone.commit();
    await expectAccepted(bed, own, await own.clone.push('origin', 'HEAD:topic'));
  });
});
