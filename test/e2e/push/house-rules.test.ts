/**
 * Rules of a repository for contributors: known before anything is public, and told to the person.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { delayedAs, pageOf, press, published } from '../support/delayed.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { FormClient, typedIn } from '../support/form-client.ts';
import type { Person } from '../support/person.ts';
import { remoteLines, withoutSecrets } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/** A repository with such files on its default branch, and a person with a clone from before. */
async function withFiles(files: Readonly<Record<string, string>>) {
  const contribution = await contribute(bed);
  await contribution.upstream.grow({ files: { 'a.txt': 'one\n', ...files } });
  await contribution.clone.git('pull', '--quiet', 'origin', 'main');
  return contribution;
}

/** The text of the repository's page. */
async function shown({ fullName }: Upstream): Promise<string> {
  const response = await fetch(`${bed.service.url}/v1/gh/${fullName}`, { headers: { Accept: 'text/html' } });
  return (await response.text()).replaceAll(/\s+/g, ' ').replaceAll('&quot;', '"');
}

/** The form of a change of a file, and how to send it. */
async function formOf({ fullName }: Upstream, person: Person, file = 'a.txt') {
  const client = new FormClient(bed.service.url, person);
  const path = `/v1/gh/${fullName}/change`;
  const form = await client.get(`${path}?path=${file}&new=1`);
  return { form, send: (fields: Readonly<Record<string, string>>) => client.post(path, fields) };
}

const open = ({ owner, name: repo }: Upstream) =>
  bed.sandbox.maintainer.openIssue(owner, repo, 'A bug', 'It crashes.');

const CI = '.github/workflows/ci.yml';
const told = (path: string) => `This changes workflows (${path})`;

/** Publishes a delayed push now; fails unless its page then says how that ended. */
async function expectEnd(name: string, words: string): Promise<void> {
  await press(bed, name, 'publish');
  await expect.poll(() => pageOf(bed, name)).toContain(words);
}

async function bodyOf({ fullName }: Upstream): Promise<string | null> {
  const { number } = await bed.host.onlyPull({ fullName });
  return (await bed.host.call<{ body: string | null }>('GET', `/repos/${fullName}/pulls/${number}`)).body;
}

describe('a repository whose list of vouched accounts denounces the bot', exhaustive, () => {
  it('gets no write of a push, which is told why, and what is left', async () => {
    const { upstream, clone } = await contribute(bed);
    await upstream.grow({
      files: { '.github/VOUCHED.td': `alice\n-github:${bed.sandbox.botLogin} no bots\n` },
    });
    await clone.commit();
    const lines = await expectRefused(bed, upstream, await clone.push(), 'not accepted by the repository');
    expect(lines).toContain(
      `${upstream.fullName} takes no pull requests of the bot: its .github/VOUCHED.td denounces it.`,
    );
    expect(lines).toContain('Its maintainers write: "no bots"');
    expect(lines.join('\n')).toContain(`You can open an issue instead: ${bed.service.url}/v1/gh/`);
    expect(bed.host.forkPath(upstream)).toBeNull();
    const preview = await clone.push('-o', 'preview', 'origin', 'HEAD:topic');
    expect(remoteLines(preview).join('\n')).toContain('Its maintainers write: "no bots"');
  });

  it('is shown with the reason on its page and in place of the form', async () => {
    const { upstream, person } = await withFiles({ 'VOUCHED.td': `-${bed.sandbox.botLogin} no bots` });
    const why = `${upstream.fullName} takes no pull requests of the bot: its VOUCHED.td denounces it.`;
    const theirs = 'Its maintainers write: "no bots"';
    expect(await shown(upstream)).toContain(
      `${why} It accepts only anonymous issues and replies. <br />${theirs}</span>`,
    );
    const { form } = await formOf(upstream, person);
    expect([form.problem, form.fields]).toEqual([why, {}]);
    expect(form.html).toContain(`<p>${theirs.replaceAll('"', '&quot;')}</p>`);
  });
});

describe('a repository with a list of vouched accounts', exhaustive, () => {
  it('tells a push, a preview, a form and its page that a gate may close it, and no update', async () => {
    const { upstream, clone, person } = await contribute(bed);
    await upstream.grow({ files: { 'VOUCHED.td': 'alice\n' } });
    await clone.commit();
    const gate = `${upstream.fullName} has a list of vouched accounts, VOUCHED.td, without ${bed.sandbox.botLogin}: a gate may close pull requests of the bot. A maintainer vouches with a line "${bed.sandbox.botLogin}" in that file.`;
    expect(remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic'))).toContain(gate);
    const pushed = await clone.push('origin', 'HEAD:topic');
    const { banner } = await expectAccepted(bed, { upstream, clone }, pushed);
    expect(withoutSecrets(pushed)[0]).toBe(gate);
    await clone.commit();
    const updated = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
    expect(updated.code).toBe(0);
    expect(remoteLines(updated)).not.toContain(gate);
    expect(await shown(upstream)).toContain(gate);
    const { form, send } = await formOf(upstream, person, 'b.txt');
    expect(form.html.replaceAll('&quot;', '"')).toContain(gate);
    const preview = await send({ ...form.fields, text: 'b\n', title: 'Add b', step: 'preview' });
    expect(preview.html.replaceAll('&quot;', '"')).toContain(gate);
  });
});

it('a push costs at most one more call where there is a list', exhaustive, async () => {
  const { upstream, clone } = await contribute(bed);
  await upstream.grow({
    files: { 'VOUCHED.td': '', '.github/x': '', 'docs/y': '', '.gitveil.yml': 'accept: true\n' },
  });
  await clone.commit();
  await expectAccepted(bed, { upstream, clone }, await clone.push());
  const read = bed.host.requestsFor(upstream, 'GET', /\/repos\/[^/]+\/[^/]+(?:\/contents.*)?$/);
  // What it was before: the repository twice, .gitveil.yml and .gitmodules.
  expect(read.map(({ path }) => path).toSorted()).toHaveLength(4 + 1);
});

/** A workflow that runs an action. */
const step = (action: string) =>
  `on: pull_request_target\njobs:\n  a:\n    steps:\n      - uses: ${action}@v1\n`;

it(
  'what its workflows and files check is told before, with one request of Git more',
  exhaustive,
  async () => {
    const { upstream, clone } = await contribute(bed);
    await upstream.grow({
      files: {
        '.github/workflows/title.yml': step('amannn/action-semantic-pull-request'),
        '.github/workflows/changelog.yml': step('dangoslen/changelog-enforcer'),
        '.github/workflows/large.yml': `${step('tim-actions/dco')}#${'x'.repeat(70_000)}`,
        'AI_POLICY.md': 'No.\n',
      },
    });
    await clone.commit({ message: 'Mend the door\n\nIt was open.\n' });
    const preview = async (...options: string[]) =>
      remoteLines(await clone.push(...options, '-o', 'preview', 'origin', 'HEAD:topic')).join('\n');
    const lines = await preview();
    expect(lines).toContain(`The .github/workflows/title.yml of ${upstream.fullName} checks titles`);
    expect(lines).toContain('asks each pull request to change CHANGELOG.md. Yours does not.');
    expect(lines).toContain(`The AI_POLICY.md of ${upstream.fullName} has rules about AI.`);
    expect(lines).not.toContain('large.yml');
    const files = bed.host.requestsFor(upstream, 'GET', /\/contents/).map(({ path }) => path);
    expect(files.filter((path) => /workflows|AI_POLICY|CONTRIBUTING/.test(path))).toEqual([]);
    await clone.commit({ message: 'fix: Mend it\n\nNow.\n', files: { 'CHANGELOG.md': 'Mended.\n' } });
    const fitting = await preview('-o', 'ai=none');
    for (const words of ['checks titles', 'CHANGELOG.md. ', 'rules about AI'])
      expect(fitting).not.toContain(words);
    expect(await shown(upstream)).toContain('asks each pull request to change CHANGELOG.md.');
  },
);

describe('a template for pull requests', () => {
  it('is told to a push without a description, and to no other', exhaustive, async () => {
    const { upstream, clone } = await withFiles({ '.github/PULL_REQUEST_TEMPLATE.md': '## Why\n' });
    const url = `${bed.sandbox.url}/${upstream.fullName}/blob/HEAD/.github/PULL_REQUEST_TEMPLATE.md`;
    const preview = async (...options: string[]) =>
      remoteLines(await clone.push(...options, '-o', 'preview', 'origin', 'HEAD:topic')).join('\n');
    await clone.commit({ message: 'One line\n' });
    expect(await preview()).toContain(`there is a template: ${url}. Give one: -o description=<line>`);
    expect(await preview('-o', 'sign-off')).toContain(url);
    expect(await preview('-o', 'description=Because.')).not.toContain(url);
    await clone.commit({ message: 'A title\n\nA reason.\n' });
    expect(await preview()).not.toContain(url);
    expect(await shown(upstream)).toContain(`href="${url}"`);
  });

  it('is where the form begins', exhaustive, async () => {
    const { upstream, person } = await withFiles({
      'docs/pull_request_template.md': '\uFEFF## Why\r\n\r\n<!-- Say why -->\r\n',
    });
    const { form, send } = await formOf(upstream, person);
    const description = typedIn(form.html, 'description');
    expect(description).toBe('## Why\n\n<!-- Say why -->\n');
    const filled = {
      ...form.fields,
      text: 'two\n',
      title: 'Two',
      description: description.replace('<!-- Say why -->', 'Fun.'),
    };
    const done = await send({ ...filled, step: 'open' });
    expect(done.heading, done.problem).toBe('Your pull request is open');
    expect(await bodyOf(upstream)).toBe('## Why\n\nFun.');
  });

  it.each([
    ['is too long', 'x'.repeat(4_001)],
    ['is no UTF-8', Buffer.from('\xe9t\xe9', 'latin1')],
    ['is no text', 'a\0b'],
  ])('is linked where it %s', async (_, content) => {
    const { upstream, person } = await contribute(bed);
    await upstream.grow({ files: { 'a.txt': 'one\n', 'pull_request_template.md': content } });
    const { form } = await formOf(upstream, person);
    expect(typedIn(form.html, 'description')).toBe('');
    expect(form.html).toMatch(/Follow the <a href="[^"]*pull_request_template\.md">template/);
  });

  it('is linked where the host does not send it', exhaustive, async () => {
    const { upstream, person } = await withFiles({ 'docs/pull_request_template.md': 'Why?\n' });
    await formOf(upstream, person, 'new.txt');
    // Folders and policy are remembered now, and the template is asked for last.
    const path = new RegExp(`${upstream.fullName}(?:\\.git)?/git-upload-pack$`);
    const reads = () => bed.host.requests.filter((request) => path.test(request.path)).length;
    const before = reads();
    const { form: filled } = await formOf(upstream, person, 'new.txt');
    expect(typedIn(filled.html, 'description')).toBe('Why?\n');
    bed.sandbox.faults.inject({ path, times: reads() - before - 1 });
    bed.sandbox.faults.inject({ path, times: ALWAYS, answer: { status: 502 } });
    const { form } = await formOf(upstream, person, 'new.txt');
    bed.sandbox.faults.clear();
    expect(typedIn(form.html, 'description')).toBe('');
    expect(form.html).toMatch(/Follow the <a href="[^"]*pull_request_template\.md">template/);
  });
});

it(
  'a form asks the host as much after a push as before, so that its speed does not tell of one',
  exhaustive,
  async () => {
    const asked = async ({ upstream, person }: Awaited<ReturnType<typeof withFiles>>) => {
      await bed.host.settle();
      const before = bed.host.requests.length;
      await formOf(upstream, person);
      const made = bed.host.requests.slice(before);
      return made.map(({ method, path }) => `${method} ${path.replace(upstream.name, '<name>')}`);
    };
    const pushedTo = await withFiles({});
    await pushedTo.clone.commit();
    await expectAccepted(bed, pushedTo, await pushedTo.clone.push());
    // The last that a push asks for, after its answer.
    const isTold = () =>
      bed.host.requests.some(
        ({ path, body }) => path === '/ntfy/' && body.includes(pushedTo.upstream.fullName),
      );
    await expect.poll(isTold).toBe(true);
    expect(await asked(pushedTo)).toEqual(await asked(await withFiles({})));
  },
);

describe('a repository that asks what a pull request has to say', exhaustive, () => {
  const RULES = { '.gitveil.yml': 'ai_disclosure: required\nissue: required\n' };

  it('refuses what does not say it, with the options that do, and searches find what does', async () => {
    const { upstream, clone } = await withFiles(RULES);
    const issue = open(upstream);
    await clone.commit({ message: 'Mend it\n\nWith care.\n' });
    const push = (...options: string[]) => clone.push(...options, 'origin', 'HEAD:topic');
    const asked = await expectRefused(bed, upstream, await push(), 'the repository asks for more');
    const first = asked.find((line) => line.includes('asks for')) ?? '';
    expect(first).toBe(`${upstream.fullName} asks for two things (.gitveil.yml):`);
    expect(asked.slice(asked.indexOf(first) + 1, asked.indexOf(first) + 3)).toEqual([
      '  whether AI was used: -o ai=none, -o ai=assisted or -o ai=generated',
      '  the issue that it is about: -o issue=<number of an open issue>',
    ]);
    const half = await expectRefused(
      bed,
      upstream,
      await push('-o', 'ai=none'),
      'the repository asks for more',
    );
    expect(half.join()).toContain('asks for one thing (.gitveil.yml):');
    const preview = remoteLines(await push('-o', 'preview', '-o', 'ai=assisted', '-o', `issue=#${issue}`));
    expect(preview).toContain(`    Refs #${issue}`);
    const pushed = await push('-o', 'ai=assisted', '-o', `issue=${issue}`);
    const { banner } = await expectAccepted(bed, { upstream, clone }, pushed);
    const stated = `AI disclosure: assisted\nRefs #${issue}`;
    expect(await bodyOf(upstream)).toBe(`With care.\n\n${stated}`);
    // An update keeps the description, and needs it only for another one.
    await clone.commit();
    const update = ['-o', `pr-hash=${banner.prHash}`, '-o', `pr-key=${banner.prKey}`];
    const unsaid = await push(...update, '-o', 'ai=none');
    expect(unsaid.code, unsaid.stderr).toBe(0);
    expect(unsaid.stderr).toContain('ai and issue change nothing without -o description=<line>.');
    await clone.commit();
    expect(remoteLines(await push(...update, '-o', 'description=New')).join()).toContain('asks for more');
    const described = ['-o', 'description=New', '-o', 'ai=generated', '-o', `issue=${issue}`];
    expect((await push(...update, ...described)).code).toBe(0);
    expect(await bodyOf(upstream)).toBe(`New\n\nAI disclosure: generated\nRefs #${issue}`);
  });

  it('takes only an issue that is there, and open', async () => {
    const { upstream, clone } = await withFiles(RULES);
    const { owner, name: repo } = upstream;
    const closed = open(upstream);
    bed.sandbox.maintainer.close({ owner, repo, number: closed });
    await clone.commit();
    const push = (number: number) =>
      clone.push('-o', 'ai=none', '-o', `issue=${number}`, 'origin', 'HEAD:topic');
    const refused = async (number: number) =>
      (await expectRefused(bed, upstream, await push(number), 'the issue is not open')).join('\n');
    expect(await refused(closed)).toContain(
      `${upstream.fullName}#${closed} is closed. Give the number of an open issue.`,
    );
    expect(await refused(404)).toContain(`${upstream.fullName}#404 does not exist.`);
    await expectAccepted(bed, { upstream, clone }, await push(open(upstream)));
    const { number } = await bed.host.onlyPull(upstream);
    await clone.commit();
    expect(remoteLines(await push(number)).join('\n')).toContain(`#${number} is a pull request.`);
  });

  it('is told to whoever does not ask for it, too: the options work everywhere', async () => {
    const { upstream, clone } = await withFiles({});
    await clone.commit({ message: 'Mend it\n' });
    const pushed = await clone.push('-o', 'ai=none', '-o', `issue=${open(upstream)}`, 'origin', 'HEAD:topic');
    await expectAccepted(bed, { upstream, clone }, pushed);
    expect(await bodyOf(upstream)).toBe('AI disclosure: none\nRefs #1');
  });

  it('has fields for it in the form, and says on its page how its file was read', async () => {
    const { upstream, person } = await withFiles({
      '.gitveil.yml':
        'ai_disclosure: required\nissue: required\nsign_off: required\nlimit: 5/1h\nworkflows: false\n',
    });
    const page = await shown(upstream);
    for (const rule of [
      'Say whether AI was used',
      'Name the open issue',
      'Changes of workflows are refused',
      'At most 5 pull requests and issues within 60 min',
    ])
      expect(page).toContain(rule);
    const { form, send } = await formOf(upstream, person);
    expect(form.html).toMatch(/<select id="ai" name="ai"[^>]* required/);
    const typed = { ...form.fields, text: 'two\n', title: 'Two', description: '', sign_off: 'yes' };
    for (const [given, problem] of [
      [{ sign_off: '' }, /a sign-off, .*: tick “I affirm the Developer Certificate of Origin 1\.1”/],
      [{}, /asks for two things .*“Was AI used\?”.*“Number of the open issue”/s],
      [{ ai: 'none' }, /asks for one thing .*“Number of the open issue”/s],
      [{ ai: 'none', issue: '7' }, /The issue is not open. .* Give the number of an open issue\./],
    ] as const) {
      const refused = await send({ ...typed, ...given, step: 'preview' });
      expect(refused.problem).toMatch(problem);
      expect(refused.problem).not.toContain('-o ');
      expect(refused.html).toMatch(/<label for="ai">Was AI used\?<\/label>/);
      expect(refused.html).toMatch(/<label for="issue">Number of the open issue<\/label>/);
    }
    const preview = await send({ ...typed, ai: 'none', issue: `${open(upstream)}`, step: 'preview' });
    expect(preview.heading, preview.problem).toBe('What becomes public');
    const back = await send({ ...preview.fields, step: 'edit' });
    expect(back.html).toMatch(/<option value="none" selected/);
    const done = await send({ ...preview.fields, step: 'open' });
    expect(done.heading, done.problem).toBe('Your pull request is open');
    expect(await bodyOf(upstream)).toContain('AI disclosure: none\nRefs #1');
  });

  it('is asked when a delayed push is published', async () => {
    const { upstream, clone } = await withFiles(RULES);
    await clone.commit();
    const name = delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await expectEnd(name, 'whether AI was used: -o ai=none');
    const said = ['-o', 'ai=none', '-o', `issue=${open(upstream)}`];
    await clone.commit({ message: 'Again\n' });
    const other = delayedAs(await clone.push(...said, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await expectEnd(other, 'PR hash');
    expect(await bodyOf(upstream)).toBe('AI disclosure: none\nRefs #1');
  });
});

it('an issue that the host does not show for a moment ends no delayed push', exhaustive, async () => {
  const { upstream, clone } = await withFiles({ '.gitveil.yml': 'issue: required\n' });
  const issue = open(upstream);
  await clone.commit();
  const name = delayedAs(await clone.push('-o', `issue=${issue}`, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
  const path = new RegExp(`${upstream.fullName}/issues/${issue}$`);
  const answer = { status: 404, body: { message: 'Not Found' } };
  bed.sandbox.faults.inject({ path, times: ALWAYS, answer });
  await expectEnd(name, 'does not exist');
  expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
  bed.sandbox.faults.clear();
  await published(bed, name);
  expect(await bodyOf(upstream)).toContain(`Refs #${issue}`);
});

describe('a push that changes workflows', exhaustive, () => {
  it('is told so, whatever else it changes, and no other is', async () => {
    const { upstream, clone, person } = await withFiles({ [CI]: 'on: push\n', '.github/x': 'x\n' });
    const preview = async (): Promise<string> =>
      remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic'))[0] ?? '';
    const change = async (files: Readonly<Record<string, string | null>>) => {
      await clone.git('reset', '--quiet', '--hard', 'origin/main');
      await clone.commit({ files });
      return preview();
    };
    await clone.git('fetch', '--quiet', 'origin');
    expect(await change({ 'src/deep/file.txt': 'x\n', '.github/x': 'y\n' })).not.toContain('workflows');
    expect(await change({ [CI]: 'on: pull_request\n', 'b.txt': 'b\n' })).toContain(told(CI));
    expect(await change({ '.github/workflows/new.yml': 'on: push\n' })).toContain(
      '.github/workflows/new.yml',
    );
    expect(await change({ [CI]: null })).toContain('This changes workflows');
    const { form } = await formOf(upstream, person, CI);
    expect(form.html).toContain(told(CI));
  });

  it('is refused if it merges an old commit or another branch of upstream to have its workflow, and another merge is not', async () => {
    const CD = '.github/workflows/cd.yml';
    const REFUSED = 'the repository takes no changes of workflows';
    const { upstream, clone } = await withFiles({
      '.gitveil.yml': 'workflows: false\n',
      [CI]: 'on: push\n',
      [CD]: 'on: push\n',
    });
    const old = await clone.idOf('HEAD');
    await upstream.grow({ files: { [CI]: 'on: release\n', [CD]: 'on: release\n' } });
    await upstream.grow({ branch: 'v1', from: old, files: { [CI]: 'on: schedule\n' } });
    await clone.git(
      'fetch',
      '--quiet',
      'origin',
      'main:refs/remotes/origin/main',
      'v1:refs/remotes/origin/v1',
    );
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    const push = async (merged = old) => {
      const parents = ['-p', 'origin/main', '-p', merged];
      const merge = await clone.git('commit-tree', 'HEAD^{tree}', ...parents, '-m', 'Merge it');
      return clone.push('origin', `${merge}:refs/heads/topic`);
    };
    // The folder itself is new: each file is the same in one of both.
    await clone.commit({ files: { [CI]: 'on: push\n' } });
    const lines = await expectRefused(bed, upstream, await push(), REFUSED);
    expect(lines).toContain(`Leave out ${CI}, and push again.`);
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.commit({ files: { [CI]: 'on: schedule\n' } });
    await expectRefused(bed, upstream, await push('origin/v1'), REFUSED);
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.commit();
    expect((await push()).code).toBe(0);
  });

  it('with a delay is told that nobody could check it, as for submodules', async () => {
    const { clone } = await contribute(bed);
    await clone.git('update-index', '--add', '--cacheinfo', `160000,${'ab'.repeat(20)},module`);
    await clone.git('commit', '--quiet', '--message', 'Add a module');
    const push = () => clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    const module = remoteLines(await push()).join('\n');
    expect(module).toContain('has submodules. The service could not check whether you change one.');
    expect(module).not.toContain('workflows');
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.commit({ files: { [CI]: 'on: push\n' } });
    const workflow = remoteLines(await push()).join('\n');
    expect(workflow).toContain('could not check whether you change workflows.');
    expect(workflow).not.toContain('submodules');
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.commit();
    expect(remoteLines(await push()).join('\n')).not.toContain('could not check');
  });

  it('is refused where the repository takes none, also in more than is kept in memory, and when it was delayed', async () => {
    const { upstream, clone } = await withFiles({ '.gitveil.yml': 'workflows: false\n', [CI]: 'on: push\n' });
    await clone.commit({ files: { [CI]: 'on: pull_request\n', 'big.bin': randomBytes(1_500_000) } });
    const lines = await expectRefused(
      bed,
      upstream,
      await clone.push(),
      'the repository takes no changes of workflows',
    );
    expect(lines).toContain(`${upstream.fullName} takes no changes of workflows: its .gitveil.yml says so.`);
    expect(lines).toContain(`Leave out ${CI}, and push again.`);
    expect(bed.host.forkPath(upstream)).toBeNull();
    const name = delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await expectEnd(name, 'takes no changes of workflows');
    await clone.git('reset', '--quiet', '--hard', 'HEAD~1');
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push());
  });
});

it.each([
  ['small, but changes many folders', 40, {}],
  ['more than is kept in memory, with many alike files', 0, { 'big.bin': randomBytes(1_500_000) }],
])(
  'a delayed push that is %s is published if it changes no workflow',
  exhaustive,
  async (_, folders, more) => {
    const words = Array.from({ length: 60 }, () => randomBytes(30).toString('hex')).join('\n');
    const alike = Object.fromEntries(
      Array.from({ length: 40 }, (__, at) => [`new-${at}`, `${at}\n${words}`]),
    );
    const names = ['.github', ...Array.from({ length: folders }, (__, at) => `z-${at}`)];
    const large = names.flatMap((name) =>
      Array.from({ length: 30 }, (__, at) => [`${name}/${at}`, `${name}\n`]),
    );
    const rule = { '.gitveil.yml': 'workflows: false\n', [CI]: 'on: push\n' };
    const { upstream, clone } = await withFiles({ ...rule, ...Object.fromEntries(large) });
    const changed = Object.fromEntries(names.map((name) => [`${name}/7`, `${name}, changed\n`]));
    await clone.commit({ files: { ...changed, ...alike, ...more } });
    const name = delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await expectEnd(name, 'PR hash');
    expect((await bed.host.onlyPull(upstream)).state).toBe('open');
  },
);

it('what a person has to know comes first, in one order, and in at most 14 lines', exhaustive, async () => {
  const { upstream, clone } = await withFiles({
    'VOUCHED.td': 'alice',
    '.github/workflows/ci.yml': 'on: push\n',
    'pull_request_template.md': 'Why?',
  });
  await upstream.grow({ branch: 'release-1.x', from: 'main', count: 2 });
  await clone.git('fetch', '--quiet', 'origin');
  await clone.git('switch', '--quiet', '--detach', 'origin/release-1.x');
  await clone.commit({ message: 'One\n', files: { '.github/workflows/ci.yml': 'on: [push]\n' } });
  const { banner } = await expectAccepted(
    bed,
    { upstream, clone },
    await clone.push('origin', 'HEAD:refs/heads/one'),
  );
  await clone.commit({ message: 'Two\n' });
  const near = (banner.prHash.startsWith('a') ? 'b' : 'a') + banner.prHash.slice(1);
  const lines = remoteLines(await clone.push('-o', `pr-hash=${near}`, 'origin', 'HEAD:refs/heads/two'));
  const first = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith('Sending')),
  );
  expect(first.length).toBeLessThanOrEqual(14);
  const at = (words: string) => first.findIndex((line) => line.includes(words));
  const order = [
    'has that pr-hash',
    'is already in',
    'a gate may close',
    'This changes workflows',
    'Your work is based on "release-1.x"',
    'there is a template',
  ].map(at);
  expect(order).not.toContain(-1);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  const shownFirst = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:refs/heads/two'));
  expect(shownFirst.findIndex((line) => line.includes('a gate may close'))).toBeLessThan(
    shownFirst.findIndex((line) => line.includes('Your work is based on')),
  );
});

it('a host that does not answer about the issue is told, and nothing is opened', async () => {
  const { upstream, clone } = await withFiles({ '.gitveil.yml': 'issue: required\n' });
  bed.sandbox.faults.inject({
    path: new RegExp(`${upstream.fullName}/issues/1$`),
    times: 9,
    answer: { status: 502 },
  });
  await clone.commit();
  const pushed = await clone.push('-o', 'issue=1', 'origin', 'HEAD:topic');
  await expectRefused(bed, upstream, pushed, 'the repository could not be looked up');
});
