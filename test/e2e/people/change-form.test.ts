/**
 * The form of a change, with whatever people and programs may send: nothing is lost, and nothing is
 * opened twice.
 */
import { describe, expect, it } from 'vitest';
import { type FormAnswer, FormClient, savedIn, typedIn } from '../support/form-client.ts';
import { gitIn } from '../support/objects.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { mustRun, neutralEnvironment } from '../support/run.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, ALERT_ADDRESS: 'hidden' } });
const MEGABYTE = 1024 * 1024;

const clientOf = (): FormClient => new FormClient(bed.service.url, bed.person());
const formPath = ({ fullName }: Upstream): string => `/v1/gh/${fullName}/change`;
const opened = (upstream: Upstream, path: string, more = '') =>
  `${formPath(upstream)}?path=${encodeURIComponent(path)}${more}`;

/** Fields that a person sends: what the form holds, and what they type besides. */
const typed = (form: FormAnswer, text: string, step: string) => ({
  ...form.fields,
  text,
  title: 'Say it better',
  description: '',
  step,
});

/** Opens a file and sends another text for it. */
async function change(upstream: Upstream, path: string, text: string, step = 'preview') {
  const client = clientOf();
  const form = await client.get(opened(upstream, path));
  const answer = await client.post(formPath(upstream), typed(form, text, step));
  return { client, form, answer };
}

const forkFile = (upstream: Upstream, hash: string, path: string): Promise<string> =>
  gitIn(bed.host.forkPath(upstream) ?? '', 'cat-file', 'blob', `refs/heads/anon-${hash}:${path}`);

/** An entry of a tree; the name in Latin-1. */
const entry = (mode: string, name: string, oid: string): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]);

/** Runs git in upstream's repository; answers the id that it prints. */
async function made(upstream: Upstream, input: string | Uint8Array, ...args: string[]): Promise<string> {
  const env = neutralEnvironment({ GIT_CONFIG_GLOBAL: '/dev/null' });
  return (await mustRun('git', args, { cwd: upstream.path, env, input })).toString().trim();
}

const hashIn = ({ html }: FormAnswer): string => savedIn(html, 'Hash');
const keyIn = ({ html }: FormAnswer): string => savedIn(html, 'Key');

const noticeIn = ({ html }: FormAnswer): string => /<p class="notice">[^]*?<\/p>/.exec(html)?.[0] ?? '';
const linksIn = (html: string): (string | undefined)[] =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);

describe('a change', () => {
  it(
    'leaves everything else in its folders as it was, byte for byte, also names that are not UTF-8',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      await upstream.grow({ files: { 'lib/a.txt': 'one\n', 'lib/sub/b.txt': 'two\n' } });
      // A link, an executable file, an old mode, and a name in Latin-1.
      const blob = await upstream.git('rev-parse', 'main:lib/a.txt');
      const [sub, old] = [await upstream.git('rev-parse', 'main:lib/sub'), await upstream.tip()];
      const lib = await made(
        upstream,
        Buffer.concat([
          entry('100644', 'a.txt', blob),
          entry('100644', 'caf\xe9', blob),
          entry('120000', 'link', blob),
          entry('160000', 'module', old),
          entry('100755', 'run.sh', blob),
          entry('40000', 'sub', sub),
        ]),
        'hash-object',
        '-t',
        'tree',
        '-w',
        '--stdin',
      );
      const root = await made(upstream, `040000 tree ${lib}\tlib\n`, 'mktree');
      const author = ['-c', 'user.name=Mona', '-c', 'user.email=mona@upstream.example'];
      const tip = await made(upstream, '', ...author, 'commit-tree', root, '-p', old, '-m', 'Odd');
      await upstream.git('update-ref', 'refs/heads/main', tip);

      const client = clientOf();
      const listing = await client.get(opened(upstream, 'lib'));
      expect(listing.html).toMatch(/its name is not UTF-8/);
      expect((await client.get(opened(upstream, 'lib/link'))).problem).toBe(
        '“lib/link” is a symbolic link. Change the file that it leads to, or use Git.',
      );
      expect((await client.get(opened(upstream, 'lib/module'))).problem).toMatch(/is a submodule/);
      expect((await client.get(opened(upstream, 'lib/a.txt/more'))).problem).toMatch(
        /“lib\/a.txt” is a file/,
      );
      const { answer } = await change(upstream, 'lib/run.sh', 'three\n', 'open');
      expect(answer.heading, answer.problem).toBe('Your pull request is open');
      const fork = bed.host.forkPath(upstream) ?? '';
      const branch = `refs/heads/anon-${hashIn(answer)}`;
      expect(await gitIn(fork, 'diff', '--raw', '--abbrev=40', tip, branch)).toBe(
        `:100755 100755 ${blob} ${await gitIn(fork, 'rev-parse', `${branch}:lib/run.sh`)} M\tlib/run.sh`,
      );
      expect(await gitIn(fork, 'rev-parse', `${branch}^`)).toBe(tip);
    },
  );

  it('is for a file that is found by a part of its path', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'lib/Guide.md': 'one\n', 'lib/other.txt': 'two\n', 'guide/x.c': 'x\n' } });
    const client = clientOf();
    const find = (text: string) => client.get(opened(upstream, text, '&find=1'));
    const found = await find('guide');
    const links = [...found.html.matchAll(/<li><a href="[^"]*">([^<]*)<\/a>/g)].map(([, name]) => name);
    expect(links).toEqual(['guide/x.c', 'lib/Guide.md']);
    expect((await find('../nowhere')).problem).toBe(
      'No file has this in its path. Write less of it, or add the file.',
    );
    const named = await find(' lib/Guide.md ');
    expect(named.heading).toBe('Change lib/Guide.md');
    for (const button of ['&find=1', '&new=1']) {
      const unnamed = await client.get(opened(upstream, '', button));
      expect(unnamed.problem).toBe('Write the path of a file first, such as docs/guide.md.');
      expect(unnamed.html).toContain('lib/');
    }
  });

  it('adds a file in new folders', async () => {
    const upstream = await bed.createUpstream();
    const client = clientOf();
    const path = 'upstream/new/deep/Ärger 😀.md';
    expect((await client.get(opened(upstream, path))).problem).toMatch(/There is no such file/);
    const form = await client.get(opened(upstream, path, '&new=1'));
    expect(form.heading).toBe(`Add ${path}`);
    const preview = await client.post(formPath(upstream), typed(form, 'New', 'preview'));
    expect(preview.heading, preview.problem).toBe('What becomes public');
    // Nobody has told the service whom to look for.
    expect(preview.html).not.toContain('found no name');
    expect(preview.html).toContain('You gave no name, so nothing was searched for. Check the text yourself.');
    expect(preview.html).not.toMatch(/would be refused/i);
    const answer = await client.post(formPath(upstream), { ...preview.fields, step: 'open' });
    expect(await forkFile(upstream, hashIn(answer), path)).toBe('New');
  });

  it('sent twice opens one pull request, at once and later', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const client = clientOf();
    const form = await client.get(opened(upstream, 'a.txt'));
    const fields = typed(form, 'two\n', 'open');
    const answers = await Promise.all([1, 2].map(() => client.post(formPath(upstream), fields)));
    const later = await client.post(formPath(upstream), fields);
    const hash = hashIn(later);
    expect(hash).not.toBe('');
    expect([...answers, later].map(hashIn)).toEqual([hash, hash, hash]);
    expect((await bed.host.onlyPull(upstream)).head).toBe(`${bed.sandbox.botLogin}:anon-${hash}`);
  });

  it(
    'sent again with another text, as from the browser’s history, opens another pull request',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      const client = clientOf();
      const form = await client.get(opened(upstream, 'a.txt', '&new=1'));
      const hashes = [];
      for (const text of ['one\n', 'two\n']) {
        hashes.push(hashIn(await client.post(formPath(upstream), typed(form, text, 'open'))));
      }
      const contents = hashes.map((hash) => forkFile(upstream, hash, 'a.txt'));
      expect(await Promise.all(contents)).toEqual(['one', 'two']);
    },
  );

  it(
    'that is open already says so before it is opened, and leads to that pull request',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      await upstream.grow({ files: { 'a.txt': 'one\n' } });
      const first = await change(upstream, 'a.txt', 'two\n', 'open');
      const hash = hashIn(first.answer);
      const { client, answer } = await change(upstream, 'a.txt', 'two\n');
      const links = [`/v1/pr/${hash}`, `${opened(upstream, 'a.txt')}&amp;pr_hash=${hash}`];
      expect(linksIn(noticeIn(answer))).toEqual(links);
      expect(noticeIn(answer)).toMatch(/The same change is open already/);
      const double = await client.post(formPath(upstream), { ...answer.fields, step: 'open' });
      expect(double.heading, double.problem).toBe('Your pull request is open');
      expect(linksIn(noticeIn(double))).toEqual(links);
      for (const { html } of [answer, double])
        expect(html).not.toMatch(/SECOND pull request|git push|-o pr-hash/);
      const other = await change(upstream, 'a.txt', 'three\n');
      expect(noticeIn(other.answer)).toBe('');
    },
  );

  it('whose pull request was withdrawn does not say that it is open', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const client = clientOf();
    const form = await client.get(opened(upstream, 'a.txt', '&new=1'));
    const fields = typed(form, 'one\n', 'open');
    const done = await client.post(formPath(upstream), fields);
    const hash = hashIn(done);
    const withdrawal = `/v1/gh/${upstream.fullName}/withdraw`;
    const { fields: held } = await client.get(`${withdrawal}?pr_hash=${hash}`);
    for (const [key, problem] of [
      ['', /^Give the key of the pull request/],
      ['0'.repeat(32), /^The pr-key is wrong/],
    ] as const) {
      const refused = await client.post(withdrawal, { ...held, pr_hash: hash, pr_key: key });
      expect([refused.status, refused.problem]).toEqual([400, expect.stringMatching(problem)]);
    }
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
    const withdrawn = await client.post(withdrawal, { ...held, pr_hash: hash, pr_key: keyIn(done) });
    expect(withdrawn.heading, withdrawn.problem).toBe('Your pull request is withdrawn');
    expect(withdrawn.html.match(/<(?:h1|p)[^>]*>Your pull request is withdrawn/g)).toHaveLength(1);
    const again = await client.post(formPath(upstream), fields);
    expect([again.status, again.problem]).toEqual([409, expect.stringMatching(/is withdrawn now/)]);
    expect(typedIn(again.html, 'text')).toBe('one\n');
    // Sent once more, it is a form of its own.
    const anew = await client.post(formPath(upstream), typed(again, 'one\n', 'open'));
    expect(anew.heading, anew.problem).toBe('Your pull request is open');
    expect(hashIn(anew)).not.toBe(hash);
  });

  it(
    'applies to the newest version if others have changed something else, and shows both if they changed the file',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      await upstream.grow({ files: { 'a.txt': 'one\ntwo\n' } });
      const client = clientOf();
      const form = await client.get(opened(upstream, 'a.txt'));
      const tip = await upstream.grow();
      const preview = await client.post(formPath(upstream), typed(form, 'ONE\ntwo\n', 'preview'));
      expect(preview.html).toMatch(/Your change applies to\s+the\s+newest\s+version/);
      await upstream.grow({ files: { 'a.txt': 'one\ntwo & three\n' } });
      const conflict = await client.post(formPath(upstream), { ...preview.fields, step: 'open' });
      expect(conflict.status).toBe(409);
      expect(conflict.problem).toMatch(/^Others have changed this file/);
      expect(conflict.html).toMatch(/What others have changed/);
      expect(conflict.html).toMatch(/two &amp; three/);
      expect(typedIn(conflict.html, 'text')).toBe('ONE\ntwo\n');
      const noFile = await client.post(formPath(upstream), { ...preview.fields, blob: tip, step: 'open' });
      expect([noFile.status, noFile.html.includes('What others have changed')]).toEqual([409, false]);
      expect(await bed.host.pulls(upstream)).toEqual([]);
      const answer = await client.post(formPath(upstream), typed(conflict, 'ONE\ntwo & three\n', 'open'));
      expect(answer.heading, answer.problem).toBe('Your pull request is open');
      expect(await forkFile(upstream, hashIn(answer), 'a.txt')).toBe('ONE\ntwo & three');
      const fork = bed.host.forkPath(upstream) ?? '';
      expect(await gitIn(fork, 'merge-base', tip, `anon-${hashIn(answer)}`)).toBe(tip);

      const gone = await client.get(opened(upstream, 'a.txt'));
      await upstream.git('update-ref', 'refs/heads/main', tip + '^');
      const vanished = await client.post(formPath(upstream), typed(gone, 'x\n', 'open'));
      expect([vanished.status, vanished.problem]).toEqual([409, expect.stringMatching(/changed|removed/)]);
    },
  );

  it('of a pull request with several commits is left to Git', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const clone = await bed.person().copy(upstream);
    await clone.commit({ files: { 'a.txt': 'two\n' } });
    await clone.commit({ files: { 'b.txt': 'three\n' } });
    expect((await clone.push()).code).toBe(0);
    const hash = (await bed.host.onlyPull(upstream)).head.split('anon-')[1] ?? '';
    const answer = await clientOf().get(opened(upstream, 'a.txt', `&pr_hash=${hash}`));
    expect([answer.status, answer.heading]).toEqual([404, 'This pull request has several commits']);
    const nothing = await clientOf().get(opened(upstream, 'a.txt', '&pr_hash=0123456789ab'));
    expect([nothing.status, nothing.heading]).toEqual([404, 'This pull request is not open']);
  });

  it('of a repository that only the bot can see is nobody else’s business', async () => {
    const hash = '0123456789ab';
    const upstream = await bed.createUpstream({ owner: bed.sandbox.botLogin, private: true });
    await upstream.git('branch', `anon-${hash}`);
    await upstream.grow({ files: { 'secret.txt': 'for us only\n' }, branch: `anon-${hash}` });
    await bed.host.call('POST', `/repos/${upstream.fullName}/pulls`, {
      title: 'Ours',
      head: `anon-${hash}`,
      base: 'main',
    });
    const answer = await clientOf().get(opened(upstream, 'secret.txt', `&pr_hash=${hash}`));
    expect([answer.status, answer.heading]).toEqual([404, 'No such repository']);
    expect(answer.html).not.toContain('for us only');
  });
});

const BAD_PATHS: readonly (readonly [path: string, problem: RegExp])[] = [
  ['a/../b', /must not contain “.” or “..”/],
  ['/a', /without a slash/],
  ['.git/config', /No path may contain “.git”/],
  ['a\nb', /control characters/],
];

describe('a path', () => {
  it('that Git or a browser cannot take is refused in words, and stays in its field', async () => {
    const upstream = await bed.createUpstream();
    const client = clientOf();
    const { fields } = await client.get(opened(upstream, 'new.txt', '&new=1'));
    for (const [path, problem] of BAD_PATHS) {
      const answer = await client.get(opened(upstream, path));
      expect([answer.status, answer.problem]).toEqual([400, expect.stringMatching(problem)]);
      const form = { ...fields, path, text: 'x', title: 'T', step: 'open' };
      const sent = await client.post(formPath(upstream), form);
      expect([sent.status, sent.problem]).toEqual([400, expect.stringMatching(problem)]);
      expect(sent.fields['path']).toBe(path.replace('\n', '\r\n'));
    }
    const missing = await client.get(opened(upstream, 'nothing/here.txt'));
    expect([missing.status, missing.problem]).toEqual([404, expect.stringMatching(/There is no such file/)]);
  });

  it('to a folder or to no repository is answered in words', async () => {
    const upstream = await bed.createUpstream();
    const folder = await clientOf().get(opened(upstream, 'upstream', '&new=1'));
    expect(folder.problem).toMatch(/There is a folder of this name/);
    const missing = await clientOf().get('/v1/gh/octo/nowhere/change');
    expect([missing.status, missing.heading]).toEqual([404, 'No such repository']);
    const empty = await bed.createUpstream({ commits: 0 });
    expect((await clientOf().get(formPath(empty))).heading).toBe('This repository is empty');
    const renamed = bed.renameUpstream(upstream, `${upstream.name}-renamed`);
    expect((await clientOf().get(opened(upstream, 'upstream'))).html).toContain(renamed.fullName);
  });

  it('to a file that is no text, or too large, says so', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({
      files: {
        nul: 'a\0b',
        latin: Uint8Array.of(0xe9),
        large: 'x'.repeat(MEGABYTE + 1),
        limit: 'x'.repeat(MEGABYTE),
      },
    });
    expect((await clientOf().get(opened(upstream, 'nul'))).problem).toMatch(/contains NUL/);
    expect((await clientOf().get(opened(upstream, 'latin'))).problem).toMatch(/not text in UTF-8/);
    expect((await clientOf().get(opened(upstream, 'large'))).problem).toMatch(/larger than 1 MB/);
    expect(typedIn((await clientOf().get(opened(upstream, 'limit'))).html, 'text').length).toBe(MEGABYTE);
    const { answer } = await change(upstream, 'limit', 'x'.repeat(MEGABYTE + 1));
    expect([answer.status, answer.problem]).toEqual([400, expect.stringMatching(/larger than 1 MB/)]);
  });
});

describe('a form', () => {
  it('that is forged, foreign or no form is refused, and what was typed stays', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const other = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const client = clientOf();
    const path = formPath(upstream);
    const form = await client.get(opened(upstream, 'a.txt'));
    const fields = typed(form, '<b>two</b>\n', 'open');
    const foreign = (await client.get(`${formPath(other)}?path=x&new=1`)).fields['token'] ?? '';
    for (const token of ['', 'forged', foreign, `${form.fields['token']?.slice(0, -1)}x`]) {
      const answer = await client.post(path, { ...fields, token });
      expect([answer.status, answer.problem]).toEqual([403, expect.stringMatching(/did not make this form/)]);
      expect(typedIn(answer.html, 'text')).toBe('<b>two</b>\n');
      expect(answer.fields['token']).not.toBe(token);
    }
    for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }]) {
      expect((await client.post(path, fields, headers)).heading).toBe('This form came from another site');
    }
    const json = { 'Content-Type': 'application/json' };
    expect((await client.send('POST', path, '{}', json)).status).toBe(415);
    const zipped = await client.post(path, fields, { 'Content-Encoding': 'gzip' });
    expect([zipped.status, zipped.heading]).toEqual([415, 'The form is compressed']);
    for (const body of ['=', 'text', 'text=%ff', 'text=%zz']) {
      expect((await client.send('POST', path, body)).heading).toBe('This is not a form');
    }
    expect((await client.send('POST', path, `text=${'x'.repeat(8 * MEGABYTE)}`)).status).toBe(413);
    // Not escaped, as no browser sends it: each character would be six in the page.
    expect((await client.send('POST', path, `text=${'"'.repeat(3 * MEGABYTE)}`)).status).toBe(413);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    const answer = await client.post(path, fields);
    expect(answer.heading, answer.problem).toBe('Your pull request is open');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
  });

  it('is told where their name stands before anything is public, and the name goes nowhere', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const client = clientOf();
    const form = await client.get(opened(upstream, 'a.txt'));
    const send = (text: string, ownName: string, step = 'preview') =>
      client.post(formPath(upstream), { ...typed(form, text, step), own_name: ownName });
    const named = await send('one\nby zoe quist\n', 'Zoe Quist <zq@quist.example>');
    expect(named.problem).toMatch(/^Your name would become public\. /);
    expect(named.problem).toMatch(/a\.txt.*zoe quist/i);
    expect(named.problem).toMatch(/empty the field “Your name”\.$/);
    expect(named.problem).not.toMatch(/git |-o |push/);
    expect((await send('one\nask zq@quist.example\n', ' zq@quist.example', 'open')).problem).toMatch(
      /^Your name would become public/,
    );
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect((await send('two\n', 'x'.repeat(201))).problem).toBe(
      'Your name must have at most 200 characters.',
    );

    const preview = await send('two\n', 'Zoe\n<Quist> zq@quist.example');
    expect(preview.html).toContain('The service searched for zq@quist.example and Zoe Quist.');
    expect(preview.fields['own_name']).toContain('Quist');
    const word = await send('one\nfor every contributor\n', 'Contributor');
    expect(word.problem).toBe('');
    expect(word.html).toContain('A name or login may become public.');
    expect(word.html).toContain('a changed file: for every contributor');
    const answer = await client.post(formPath(upstream), { ...preview.fields, step: 'open' });
    expect(answer.heading, answer.problem).toBe('Your pull request is open');
    const branch = `refs/heads/anon-${hashIn(answer)}`;
    expect(await gitIn(bed.host.forkPath(upstream) ?? '', 'cat-file', 'commit', branch)).not.toMatch(
      /quist/i,
    );
  });

  it('sees new e-mail addresses before they are public', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'old@known.example\n' } });
    const { answer } = await change(
      upstream,
      'a.txt',
      'old@known.example\nAsk ada@lab.example or old@known.example.\n',
    );
    expect(answer.html).toMatch(/An e-mail address becomes\s+public:\s+ada@lab\.example\./);
    expect(answer.html).toContain('<mark>ada@lab.example</mark>');
  });

  it(
    'is told what the push would be told: no title, no change, the policy, panic, the limit',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      await upstream.grow({ files: { 'a.txt': 'one\n' } });
      const client = clientOf();
      const path = formPath(upstream);
      const form = await client.get(opened(upstream, 'a.txt'));
      const fields = typed(form, 'two\n', 'open');
      const problem = async (more: Record<string, string>) =>
        (await client.post(path, { ...fields, ...more })).problem;
      expect(await problem({ title: '  ' })).toMatch(/^Write a title/);
      expect(await problem({ title: 'x'.repeat(257) })).toMatch(/title must be one line/);
      expect(await problem({ text: 'one\n' })).toMatch(/not changed the text/);
      expect(await problem({ description: 'Why:\n\tbecause', step: 'preview' })).toBe('');
      expect(await problem({ description: 'x'.repeat(4_001) })).toMatch(/at most 4000 characters/);
      const operator = new Operator(bed);
      await operator.setPanic(true);
      const suspended = await client.post(path, fields);
      await operator.setPanic(false);
      expect([suspended.status, suspended.problem]).toEqual([503, expect.stringMatching(/suspended/)]);
      expect(typedIn(suspended.html, 'text')).toBe('two\n');
      for (let count = 1; count <= 5; count++) {
        const own = await client.get(opened(upstream, `${count}.txt`, '&new=1'));
        const answer = await client.post(path, typed(own, `${count}\n`, 'open'));
        expect(answer.heading, answer.problem).toBe('Your pull request is open');
      }
      const sixth = await client.post(path, fields);
      expect([sixth.status, sixth.problem]).toEqual([429, expect.stringMatching(/max 5 PRs per hour/)]);
      const closed = await bed.createUpstream();
      await closed.grow({ files: { '.gitveil.yml': 'accept: [issues]\n', 'a.txt': 'one\n' } });
      const shut = await clientOf().get(opened(closed, 'a.txt'));
      expect([shut.problem, shut.fields]).toEqual([
        expect.stringMatching(/does not accept anonymous pull/),
        {},
      ]);
      expect(bed.host.forkPath(closed)).toBeNull();
    },
  );
});

describe('a host that fails', exhaustive, () => {
  it('is named, and what was typed stays', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const client = clientOf();
    const form = await client.get(opened(upstream, 'a.txt'));
    const fields = typed(form, 'two\n', 'open');
    const { faults } = bed.sandbox;
    for (const answer of [{ status: 500 }, { status: 200, body: 'hello' }]) {
      faults.inject({ path: /git-upload-pack$/, times: 9, answer });
      const unread = await client.get(opened(upstream, 'a.txt'));
      expect([unread.status, unread.problem]).toEqual([
        502,
        expect.stringMatching(/did not answer as expected/),
      ]);
      const unsent = await client.post(formPath(upstream), fields);
      expect([unsent.status, unsent.problem]).toEqual([
        502,
        expect.stringMatching(/did not answer as expected/),
      ]);
      expect(typedIn(unsent.html, 'text')).toBe('two\n');
      faults.clear();
    }
    faults.inject({ method: 'POST', path: /\/pulls$/, times: 9, answer: { status: 503 } });
    const unopened = await client.post(formPath(upstream), fields);
    faults.clear();
    expect([unopened.status, unopened.problem]).toEqual([502, expect.stringMatching(/could not be opened/)]);
    const answer = await client.post(formPath(upstream), fields);
    expect(answer.heading, answer.problem).toBe('Your pull request is open');
    await bed.host.onlyPull(upstream);
  });
});
