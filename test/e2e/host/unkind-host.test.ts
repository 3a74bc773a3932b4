/**
 * A host that answers 200 to everything, and with nothing of use: a proxy's page, a stub, a server
 * that breaks off. Whoever pushes, updates, writes or reads meanwhile gets a sentence; nothing is
 * left at the host, and nothing is there twice when it is itself again.
 */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { withWork } from '../support/failing-host.ts';
import { FormClient } from '../support/form-client.ts';
import { remoteLines } from '../support/push-output.ts';
import { type Answer, comment, commentsOn, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { topicTexts } from '../support/topic.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/** More often than a story asks for anything. */
const ALWAYS = 500;
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const HTML = '<!doctype html><title>Sign in</title><h1>Welcome to the hotel network</h1>';

const REST = /^\/api\/v3\//;
const WHERE: Readonly<Record<string, readonly Omit<Fault, 'answer'>[]>> = {
  'to everything': [{ path: /^\/(?!ntfy)/ }],
  'by its REST interface': [{ path: REST }],
  'to every write by REST': ['POST', 'PATCH', 'DELETE'].map((method) => ({ method, path: REST })),
};

/**
 * Each story takes seconds. test/host/bad-answers.test.ts has every call with every such answer.
 */
const CASES = [
  { where: 'to everything', what: 'a page', headers: { 'content-type': 'text/html' }, body: HTML },
  { where: 'by its REST interface', what: 'an empty list', headers: JSON_TYPE, body: '[]' },
  { where: 'to every write by REST', what: 'an empty object', headers: JSON_TYPE, body: '{}' },
].map(({ where, what, headers, body }) => ({
  where,
  faults: WHERE[where] ?? [],
  what,
  answer: { status: 200, headers, body },
}));

/** A sentence for a person, in whatever way it comes. */
function expectSentence(text: string): void {
  expect(text).toMatch(/[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}/);
  expect(text).not.toMatch(/undefined|\[object|NaN|TypeError|SyntaxError|Unexpected token|hotel/);
}

function expectRefusal({ status, body }: Answer): void {
  expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
  expectSentence(String(body['error']));
}

async function opened() {
  const contribution = await withWork(bed);
  const { banner, pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
  // It is recorded after the answer to the push.
  const page = `${bed.service.url}/v1/pr/${banner.prHash}`;
  await expect.poll(async () => (await fetch(page)).status).toBe(200);
  const update = () =>
    contribution.clone.push('-f', '-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
  const thread = `${contribution.upstream.fullName}/issues/${pull.number}`;
  return { ...contribution, banner, pull, update, thread };
}

const issues = ({ upstream }: Contribution) =>
  bed.host.call<{ pull_request?: object }[]>('GET', `/repos/${upstream.fullName}/issues?state=all`);

describe.each(CASES)('a host that answers $where with $what', exhaustive, ({ faults, answer }) => {
  it('is told in a sentence, and leaves and doubles nothing', { timeout: 120_000 }, async () => {
    const [known, fresh, reader] = [await opened(), await withWork(bed), await contribute(bed)];
    await known.clone.commit({ message: 'More of it\n' });
    const text = { title: 'It breaks', body: 'Here.' };
    const issuePath = `/v1/gh/${known.upstream.fullName}/issues/anonymous`;
    for (const fault of faults) bed.sandbox.faults.inject({ ...fault, times: ALWAYS, answer });

    const pushed = await fresh.clone.push();
    // Git does not begin to push to a repository that it cannot discover.
    expect(pushed.code, pushed.stderr).toBeGreaterThan(0);
    expectSentence(remoteLines(pushed).join('\n'));
    const updated = await known.update();
    if (updated.code !== 0) expectSentence(remoteLines(updated).join('\n'));
    expectRefusal(await comment(bed, bed.person(), known.thread, 'Said meanwhile.'));
    expectRefusal(await speak(bed, bed.person(), issuePath, text));
    const page = await new FormClient(bed.service.url, bed.person()).get(`/v1/pr/${known.banner.prHash}`);
    expect(page.status).toBe(200);
    expectSentence(page.html.replaceAll(/<script>.*?<\/script>|<[^>]*>/gs, ' '));
    const fetched = await reader.clone.tryGit('fetch', 'origin');
    if (fetched.code !== 0) expect(fetched.stderr).not.toMatch(/undefined|TypeError/);

    bed.sandbox.faults.clear();
    expect(await bed.host.pulls(fresh.upstream)).toEqual([]);
    expect(await commentsOn(bed, known.thread)).toEqual([]);
    expect((await issues(known)).filter((issue) => issue.pull_request === undefined)).toEqual([]);

    await expectAccepted(bed, fresh, await fresh.clone.push());
    await bed.host.onlyPull(fresh.upstream);
    expect(await bed.host.workBranches(fresh.upstream)).toHaveLength(1);
    const again = await expectAccepted(bed, known, await known.update());
    expect(again.pull.number).toBe(known.pull.number);
    await bed.host.onlyPull(known.upstream);
    const said = await comment(bed, bed.person(), known.thread, 'Said in the end.');
    expect(said.status, JSON.stringify(said.body)).toBe(200);
    expect(await commentsOn(bed, known.thread)).toHaveLength(1);
    expect((await speak(bed, bed.person(), issuePath, text)).status).toBe(200);
  });
});

describe('a stand-in that has only the calls of the contract', exhaustive, () => {
  /**
   * It lists pull requests, and opens, edits and closes them; it takes comments and issues, and
   * forks.
   */
  const MISSING: readonly Omit<Fault, 'answer'>[] = [
    { method: 'GET', path: /\/pulls\/\d+(\/\w+)?$/ },
    { method: 'GET', path: /\/issues\/(comments\/)?\d+$/ },
    { path: /\/(merge-upstream|notifications|git\/refs?(\/.*)?|contents\/.*|users\/.*)$/ },
  ];
  const begin = () => {
    const answer = { status: 404, headers: JSON_TYPE, body: '{"message":"Not Found"}' };
    for (const fault of MISSING) bed.sandbox.faults.inject({ ...fault, times: ALWAYS, answer });
  };

  it('takes a push whose answer is lost, its update, a comment, an issue, and a close', async () => {
    const contribution = await withWork(bed);
    const { upstream, clone, person } = contribution;
    begin();
    const lost = { during: 'answer', afterBytes: 0 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, cut: lost });
    const first = await expectAccepted(bed, contribution, await clone.push());
    await bed.host.onlyPull(upstream);
    const { prHash, prKey } = first.banner;
    const named = ['-o', `pr-hash=${prHash}`, ...(prKey === undefined ? [] : ['-o', `pr-key=${prKey}`])];
    await clone.git('commit', '--amend', '-m', 'Better');
    const update = await clone.push('-f', ...named, 'origin', 'HEAD:topic');
    const second = await expectAccepted(bed, contribution, update);
    expect(second.pull.number).toBe(first.pull.number);
    const thread = `${upstream.fullName}/issues/${first.pull.number}`;
    expect((await comment(bed, person, thread, 'A word.')).status).toBe(200);
    expect(await commentsOn(bed, thread)).toHaveLength(1);
    const issuePath = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    expect((await speak(bed, person, issuePath, { title: 'It breaks', body: 'Here.' })).status).toBe(200);
    await expect
      .poll(() => topicTexts(bed, prHash))
      .toContainEqual(expect.stringContaining('Your anonymous pull request was opened'));
    const page = await new FormClient(bed.service.url, bed.person()).get(`/v1/pr/${prHash}`);
    expect(page.status).toBe(200);
    await bed.service.runScheduled();
    const withdrawn = await clone.push(...named, '-o', 'withdraw', 'origin', 'HEAD:topic');
    expectSentence(remoteLines(withdrawn).join('\n'));
    bed.sandbox.faults.clear();
    expect(await bed.host.pulls(upstream)).toMatchObject([{ state: 'closed' }]);
  });
});
