/** Judging: what was received and what upstream is become a verdict, and nobody else is asked. */
import { describe, expect, it, vi } from 'vitest';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { SearchedNames } from '../../../src/git/search/searched-names.ts';
import type { HostPullRequest } from '../../../src/host/code-host.ts';
import { OPEN_POLICY } from '../../../src/policy/policy.ts';
import { refusalOf } from '../../../src/push/judge/findings.ts';
import { judge as judgeAll } from '../../../src/push/judge/judge.ts';
import { branchesHolding } from '../../../src/push/judge/what-it-is.ts';
import type { Circumstances } from '../../../src/push/judge/destination.ts';
import type {
  GitQuestions,
  LookedUp as Place,
  PlaceQuestions,
  Upstream,
} from '../../../src/push/judge/questions.ts';
import { previewOf } from '../../../src/push/preview.ts';
import type { PushRun } from '../../../src/push/push-run.ts';
import type { PushOptions } from '../../../src/push/receive/push-options.ts';
import type { Refusal } from '../../../src/push/reply/refusal.ts';
import type { Received } from '../../../src/push/receive/receive.ts';
import { linesOf } from '../../../src/words/finding.ts';
import { REPOSITORY } from '../../host/support/repository.ts';
import { HOSTILE_MESSAGES } from '../../support/hostile-messages.ts';
import { CountedMemory } from '../../support/counted-memory.ts';
import { commitContent, EMPTY_TREE } from '../../support/objects.ts';
import { buildPack, oidOf } from '../../support/pack-builder.ts';
import { UPSTREAM } from '../../support/random-push.ts';
import { receive, UPSTREAM_HISTORY } from '../../support/rewrite.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const PR_HASH = '0123456789ab';
const MAIN = { name: 'refs/heads/main', oid: UPSTREAM };
const PERSON = 'Ann <ann@person.example> 1700000000 +0100';
const WORK = commitContent({
  tree: EMPTY_TREE,
  parents: [UPSTREAM],
  author: PERSON,
  committer: PERSON,
  message: 'Mend it\n',
});
const OPTIONS = {
  preview: false,
  draft: false,
  publishNames: false,
  squash: false,
  signOff: false,
  title: null,
  description: null,
  ai: null,
  issue: null,
};

const upstream: Upstream = {
  repository: { owner: 'octo', name: 'hello' },
  refs: [MAIN],
  hasAllBranches: true,
  hostAheadMs: 0,
  defaultBranch: MAIN,
};
const place: Place = { repository: REPOSITORY, policy: null };

const circumstances = {
  settings: {
    door: 'git',
    maxRepositoryMb: 1,
    anonEmail: 'bot@x.example',
    identityCheck: 'refuse',
    pushSecrets: 'proven',
    pushDoubles: 'tell',
    prUpdatePolicy: 'hash',
    signingKey: null,
    pullRequestFooter: '',
    hostUrl: 'https://git.test',
    remoteUrl: () => 'https://gitveil.test/v1/gh/octo/hello',
    publishedUrl: () => 'https://gitveil.test/v1/gh/octo/hello',
    fileUrl: () => 'https://git.test/octo/hello/blob/HEAD/template.md',
    issueFormUrl: () => 'https://gitveil.test/v1/gh/octo/hello/new-issue',
  },
  botLogin: 'bot',
  listed: null,
  refusal: null,
  records: { recorded: async () => null, compare: async () => ({ found: null }) },
  memory: UNCOUNTED,
  now: 1_800_000_000,
} as unknown as Circumstances;

const run = {
  host: { memory: UNCOUNTED, botLogin: async () => 'bot', clock: { now: () => 1_800_000_000_000 } },
  settings: circumstances.settings,
  reply: { note: async () => {} },
} as unknown as PushRun;

/** A push of one commit, or of several, the last one first. */
function received(options: Partial<PushOptions> = {}, work = WORK, ...before: readonly Buffer[]): Received {
  const entries = [work, ...before].map((content) => ({ type: 'commit' as const, content }));
  const { scanner } = receive([buildPack(entries).bytes]);
  const command = { oldId: '0'.repeat(40), newId: oidOf('commit', work), refName: 'refs/heads/topic' };
  return {
    taken: { command, target: { kind: 'branch', branch: 'topic' } },
    commandList: [command],
    faults: [],
    options: { ...OPTIONS, base: null, prHash: null, prKey: null, overwrite: false, ...options },
    pack: {
      kept: scanner.kept,
      entryCount: 0,
      largestBytes: 0,
      namedBases: scanner.namedBases,
      spool: { byteLength: 0, isInMemory: true, read: async function* () {} },
    },
  } as unknown as Received;
}

/** Upstream's history is one commit. */
function asked(answers: Partial<Questions> = {}) {
  const questions = {
    findPullRequest: vi.fn(async () => null),
    hashMeant: vi.fn(async () => null),
    advertised: vi.fn(async () => new Map()),
    updatedCommits: vi.fn(async () => null),
    replaceableTip: vi.fn(async () => null),
    claim: vi.fn(async () => ({ lease: 1, recorded: null, dates: [] })),
    findBranch: vi.fn(async () => null),
    history: vi.fn(() => ({
      ...UPSTREAM_HISTORY,
      reachBack: async () => false,
      conventions: new Set<string>(),
      unknownOf: () => [],
      branchesHolding: () => [],
      ownerOf: () => null,
      has: () => true,
    })),
    isApart: vi.fn(async () => false),
    treeOf: vi.fn(async () => 'e'.repeat(40)),
    newestOf: vi.fn(async () => UPSTREAM),
    readBases: vi.fn(async () => []),
    readFiles: vi.fn(async () => new Map()),
    entriesChanged: vi.fn(async () => []),
    issue: vi.fn(async () => null),
    ...answers,
  };
  return questions as unknown as typeof questions & Questions;
}

type Questions = GitQuestions & PlaceQuestions;

/** As a push goes on: it is refused, previewed or published. */
async function judge(
  pushed: Received,
  from: Upstream,
  says: Place | null,
  given: Circumstances,
  questions: Questions,
) {
  const there = says && { ...says, ask: questions };
  const judged = await judgeAll(pushed, from, there, given, questions);
  if (pushed.options.preview && judged.place !== null)
    throw await previewOf(
      run,
      pushed.pack,
      { ...judged.work, ...judged.place },
      { ...judged, yes: [] },
      null,
    );
  const refusal = refusalOf(judged.findings);
  if (refusal !== null) throw refusal;
  return { ...judged, warnings: linesOf(judged.findings) };
}

/** Which questions were asked. */
const namesOf = (questions: object): string[] =>
  Object.entries(questions).flatMap(([name, ask]) =>
    vi.mocked(ask as () => void).mock.calls.length > 0 ? [name] : [],
  );

const by = (author: string, parent: Buffer, message: string) =>
  commitContent({
    tree: EMPTY_TREE,
    parents: [oidOf('commit', parent)],
    author: `${author} 1 +0000`,
    message,
  });

describe('a push is judged', () => {
  it.each([[[]], [['message-id:', 'session:', '//x.example']]])(
    'without trails, if it is asked to, whatever upstream’s messages have: %j',
    async (conventions) => {
      const id = '01AbCd23EfGh45IjKl67MnOp';
      const message = `It\n\nMessage-Id: <${id}@mail.example>\nLink: https://x.example/${id}\nSession: ${id}\n`;
      const history: object = asked().history([]);
      const conventional = { ...history, conventions: new Set(conventions) };
      const questions = asked({ history: () => conventional as never });
      const work = commitContent({ tree: EMPTY_TREE, parents: [UPSTREAM], author: PERSON, message });
      const pushed = received({ stripTrails: true }, work);
      const judged = await judge(pushed, upstream, place, circumstances, questions);
      expect(Buffer.from(judged.work.commits.at(0).message.bytes).toString()).toBe('It\n');
    },
  );

  it('with each walk over its commits as work', async () => {
    const memory = new CountedMemory();
    const reachBack = vi.fn(async () => reachBack.mock.calls.length < 4);
    const history: object = asked().history([]);
    const unknown = { ...history, isKnown: () => false, reachBack, reachBackOnOthers: reachBack };
    const questions = asked({ history: () => unknown as never });
    const pushed = received();
    const judging = judge(pushed, upstream, place, { ...circumstances, memory }, questions);
    await expect(judging).rejects.toMatchObject({
      reason: 'fetch first',
      lines: expect.arrayContaining([`  git pull --rebase ${remote} main`]),
    });
    expect(memory.workedBytes).toBeGreaterThanOrEqual(3 * pushed.pack.kept.bytes);
  });

  it('publishable, by its history alone', async () => {
    const questions = asked();
    const { claim, ...judged } = await judge(received(), upstream, place, circumstances, questions);
    expect(judged).toMatchObject({
      work: { base: MAIN, boundary: [UPSTREAM] },
      place: { named: null },
    });
    expect(claim).toBeNull();
    expect(namesOf(questions)).toEqual(['history', 'treeOf']);
  });

  it('with a word if it changes no file, whether or not the host may be asked', async () => {
    const same = asked({ treeOf: async () => EMPTY_TREE });
    const other = asked();
    for (const [questions, says, isTold] of [
      [same, place, true] as const,
      [other, place, false] as const,
      [asked({ treeOf: async () => null }), null, true] as const,
    ]) {
      const { warnings } = await judge(received(), upstream, says, circumstances, questions);
      expect(warnings.includes('This push changes no file.')).toBe(isTold);
    }
  });

  it('with a look at pull requests, if it has commits of several authors; it may fail', async () => {
    const questions = asked({ advertised: vi.fn(async () => null) });
    const other = commitContent({
      tree: EMPTY_TREE,
      parents: [oidOf('commit', WORK)],
      author: 'B <b@b.example> 1 +0000',
    });
    const { warnings } = await judge(received({}, other, WORK), upstream, place, circumstances, questions);
    expect(warnings).toContain(
      'The service could not check whether commits of other pull requests are among yours.',
    );
  });

  it('with the number of its commits by others, the bot’s left out', async () => {
    const bots = by('bot <bot@x.example>', WORK, 'Bots\n');
    const others = by('B <b@b.example>', bots, 'Others\n');
    const tip = by('Ann <ann@person.example>', others, 'Tip\n');
    const judged = judge(received({}, tip, others, bots, WORK), upstream, place, circumstances, asked());
    expect((await judged).warnings).toContain(
      '1 of 4 commits is by another author. All would be published in the name of the bot.',
    );
  });

  const remote = 'https://gitveil.test/v1/gh/octo/hello';
  const root = commitContent({ tree: EMPTY_TREE, author: 'B <b@b.example> 1 +0000', message: 'Theirs\n' });
  const onRoot = commitContent({ tree: EMPTY_TREE, parents: [oidOf('commit', root)], author: PERSON });

  it.each([
    ['alone', [commitContent({ tree: EMPTY_TREE, author: PERSON })], '--root'],
    ['behind others’ commits', [onRoot, root], oidOf('commit', root).slice(0, 12)],
  ])(
    'refused if it has no history in common with upstream, %s, now, later or previewed',
    async (_, works, onto) => {
      const [work, ...before] = works;
      for (const [says, preview] of [
        [place, false] as const,
        [place, true] as const,
        [null, false] as const,
      ]) {
        const push = received({ preview }, work, ...before);
        await expect(judge(push, upstream, says, circumstances, asked())).rejects.toMatchObject({
          reason: 'no history in common',
          lines: expect.arrayContaining([
            `  git fetch ${remote} main`,
            `  git rebase --onto FETCH_HEAD ${onto}`,
          ]),
        });
      }
    },
  );

  it('refused as an orphan of ten thousand commits by others', exhaustive, async () => {
    const chain = [root];
    for (let number = 1; number < 10_000; number++) {
      const work = by(
        number === 9_999 ? 'Ann <ann@person.example>' : 'B <b@b.example>',
        chain[0]!,
        `${number}`,
      );
      chain.unshift(work);
    }
    const [work, ...before] = chain as [Buffer, ...Buffer[]];
    const judged = judge(received({}, work, ...before), upstream, place, circumstances, asked());
    const last = oidOf('commit', before[0]!).slice(0, 12);
    await expect(judged).rejects.toMatchObject({
      lines: expect.arrayContaining([`  git rebase --onto FETCH_HEAD ${last}`]),
    });
  });

  it('refused if nothing of a pull request would be left, with the command that withdraws it', async () => {
    const push = received({ prHash: '0123456789ab' });
    const taken = { ...push.taken, command: { ...push.taken.command, newId: UPSTREAM } };
    const questions = asked();
    await expect(judge({ ...push, taken }, upstream, place, circumstances, questions)).rejects.toMatchObject({
      reason: 'nothing to propose',
      lines: expect.arrayContaining([
        `  git push -o withdraw -o pr-hash=0123456789ab -o 'pr-key=<key>' ${remote} HEAD:refs/heads/withdraw`,
      ]),
    });
  });

  it('refused for a base that is not there, and for nothing that follows from what stands in for it', async () => {
    const few = { ...upstream, hasAllBranches: false };
    const policy = { ...OPEN_POLICY, refusesWorkflows: true };
    const questions = asked({ entriesChanged: vi.fn(async () => null) });
    const push = received({ base: 'nowhere' }, commitContent({ tree: EMPTY_TREE, author: PERSON }));
    const judged = judge(push, few, { ...place, policy }, circumstances, questions);
    const refusal = (await judged.catch((error: unknown) => error)) as Refusal;
    expect(refusal).toMatchObject({ code: 'base', reason: 'there is no such base branch' });
    const others = refusal.also.map(({ code }) => code);
    for (const code of ['fetch-first', 'base', 'unlisted-branches', 'workflows', 'other-base'])
      expect(others).not.toContain(code);
  });

  it.each([{}, { publishNames: true }, { preview: true }])(
    'refused if the names cannot be searched for, with %j too, and all else is searched',
    async (options) => {
      const find = vi.spyOn(SearchedNames.prototype, 'beginWith').mockImplementationOnce(() => {
        throw new RangeError('the texts are too much alike');
      });
      const judged = judge(received(options), upstream, place, circumstances, asked());
      await expect(judged).rejects.toMatchObject({ code: 'unsearchable', preview: null });
      expect(find.mock.calls.length).toBeGreaterThan(1);
      find.mockRestore();
    },
  );

  it('refused for a base that has no history in common with the default branch', async () => {
    const pages = { name: 'refs/heads/gh-pages', oid: 'c'.repeat(40) };
    const history = {
      ...UPSTREAM_HISTORY,
      reachBack: async () => false,
      conventions: new Set<string>(),
      unknownOf: () => [],
      branchesHolding: () => [],
      has: (tip: string) => tip === UPSTREAM,
    };
    const push = () =>
      judge(
        received({ base: 'gh-pages' }),
        { ...upstream, refs: [MAIN, pages] },
        place,
        circumstances,
        asked({ history: () => history as never, isApart }),
      );
    const isApart = vi.fn(async () => true);
    await expect(push()).rejects.toMatchObject({
      reason: 'no history in common',
      lines: expect.arrayContaining([
        `  git fetch ${remote} gh-pages`,
        `  git rebase --onto FETCH_HEAD ${UPSTREAM.slice(0, 12)}`,
      ]),
    });
    expect(isApart).toHaveBeenCalledWith(pages.oid, [UPSTREAM]);
    isApart.mockResolvedValue(false);
    await expect(push()).resolves.toMatchObject({ work: { base: pages } });
  });

  describe('for a base that its boundary is not on, nor the default branch', () => {
    const pages = { name: 'refs/heads/gh-pages', oid: 'c'.repeat(40) };
    const next = { name: 'refs/heads/next', oid: 'd'.repeat(40) };
    const judged = (holders: readonly (typeof MAIN)[], isApart: Questions['isApart'], says: Place | null) => {
      const history = {
        ...UPSTREAM_HISTORY,
        reachBack: async () => false,
        conventions: new Set<string>(),
        unknownOf: () => [],
        branchesHolding: () => holders,
        has: () => false,
      };
      const main = { ...MAIN, oid: 'e'.repeat(40) };
      const refs = { ...upstream, refs: [main, pages, next], defaultBranch: main };
      const questions = asked({ history: () => history as never, isApart });
      return judge(received({ base: 'gh-pages' }), refs, says, circumstances, questions);
    };

    it('refused if the branch that has it shares nothing with the base', async () => {
      const isApart = vi.fn(async () => true);
      await expect(judged([next], isApart, place)).rejects.toMatchObject({ reason: 'no history in common' });
      expect(isApart).toHaveBeenLastCalledWith(pages.oid, [next.oid]);
      await expect(judged([], isApart, place)).rejects.toMatchObject({ reason: 'no history in common' });
      expect(isApart).toHaveBeenLastCalledWith(pages.oid, [UPSTREAM]);
    });

    it('taken if it shares something, or the base has it, or the host must not be asked yet', async () => {
      await expect(judged([next], async () => false, place)).resolves.toBeDefined();
      const isApart = vi.fn(async () => true);
      await expect(judged([next, pages], isApart, place)).resolves.toBeDefined();
      await expect(judged([next], isApart, null)).resolves.toBeDefined();
      expect(isApart).not.toHaveBeenCalled();
    });
  });

  it('refused, before any question, when upstream takes nothing', async () => {
    const questions = asked();
    const archived = { ...place, repository: { ...place.repository, isArchived: true } };
    const judging = judge(received(), upstream, archived, circumstances, questions);
    await expect(judging).rejects.toMatchObject({ reason: 'the repository is archived' });
    expect(namesOf(questions)).toEqual([]);
  });

  it.each([
    [
      'none',
      null,
      [
        'octo/hello takes no pull requests.',
        'You can open an issue instead: https://gitveil.test/v1/gh/octo/hello/new-issue',
      ],
    ],
    [
      'collaborators',
      { accepted: ['pull_requests'] },
      ['octo/hello takes pull requests only from its collaborators.'],
    ],
  ])(
    'refused, before any question, when upstream takes pull requests of %s',
    async (pullRequests, policy, lines) => {
      const questions = asked();
      const closed = {
        ...place,
        policy,
        repository: { ...place.repository, pullRequests },
      } as Place;
      const judging = judge(received(), upstream, closed, circumstances, questions);
      await expect(judging).rejects.toMatchObject({ lines });
      expect(namesOf(questions)).toEqual([]);
    },
  );

  it('as an update of the pull request that it names', async () => {
    const pullRequest = { number: 7, isOpen: true, base: 'main' } as unknown as HostPullRequest;
    const claiming = vi.fn(async () => ({ lease: 1, recorded: null, dates: [] }));
    const questions = asked({ findPullRequest: async () => pullRequest, claim: claiming });
    const { claim, ...judged } = await judge(
      received({ prHash: PR_HASH }),
      upstream,
      place,
      circumstances,
      questions,
    );
    expect(judged).toMatchObject({ place: { named: { prHash: PR_HASH, pullRequest } } });
    expect(claim).toMatchObject({ lease: 1 });
    expect(claiming).toHaveBeenCalledWith(PR_HASH);
  });

  it('with a warning, when it updates what it calls a draft', async () => {
    const pullRequest = { number: 7, isOpen: true, base: 'main' } as unknown as HostPullRequest;
    const questions = asked({ findPullRequest: async () => pullRequest });
    const update = received({ prHash: PR_HASH, draft: true });
    const judged = await judge(update, upstream, place, circumstances, questions);
    const warnings = ['The option draft changes nothing: this pull request is open already.'];
    expect(judged).toMatchObject({ warnings });
  });

  it('a preview, which says what would become public', async () => {
    const judging = judge(received({ preview: true }), upstream, place, circumstances, asked());
    await expect(judging).rejects.toMatchObject({ preview: { title: 'Mend it' } });
  });

  it('refused if its text disturbs many people, whether or not it is a preview; else only warned of', async () => {
    const people = '@a @b @c @d @e @f';
    const message = `Mend it\n\n${people}\n`;
    const work = commitContent({ tree: EMPTY_TREE, parents: [UPSTREAM], message });
    const judged = (options: Partial<PushOptions>, on = asked()) =>
      judge(received(options, work), upstream, place, circumstances, on);
    const refusal = { reason: 'the pull request would disturb too many people' };
    for (const options of [{}, { preview: true }, { title: 'Other' }, { description: people }]) {
      await expect(judged(options)).rejects.toMatchObject(refusal);
    }
    const warnings = expect.arrayContaining(['  Mend it']) as string[];
    expect(await judged({ description: '' })).toMatchObject({ warnings });
    // The text of an open pull request stays as it is.
    const pullRequest = { number: 7, isOpen: true, base: 'main' } as unknown as HostPullRequest;
    const open = asked({ findPullRequest: async () => pullRequest });
    expect(await judged({ prHash: PR_HASH }, open)).toMatchObject({ warnings });
    await expect(judged({ prHash: PR_HASH, title: people, prKey: 'k' }, open)).rejects.toMatchObject(refusal);
  });

  it('with the limits of the repository', async () => {
    const limits = [{ most: 5, withinMs: 3_600_000 }];
    const limited = { ...place, policy: { ...OPEN_POLICY, limits } };
    const judged = await judge(received(), upstream, limited, circumstances, asked());
    expect(judged).toMatchObject({ place: { policyLimits: limits } });
  });

  it('the same each time', async () => {
    const pushes: unknown[] = [];
    for (const questions of [asked(), asked()]) {
      const { work } = await judge(received(), upstream, place, circumstances, questions);
      pushes.push({ ...work, commits: [...work.commits] });
    }
    expect(pushes[0]).toEqual(pushes[1]);
  });
});

/** Says what a preview of one commit shows, or why it would be refused. */
async function told(work: Buffer): Promise<string> {
  const push = received({ preview: true, signOff: true, publishNames: true }, work);
  const lines = await judge(push, upstream, place, circumstances, asked()).then(
    () => [],
    (error: unknown) => (error as Refusal).lines,
  );
  return lines.join('\n');
}

/** A size for which anything quadratic takes minutes: far more than a test has. */
const LARGE = 1_000_000;

describe('a hostile commit is looked through once, and a sentence says what came of it', exhaustive, () => {
  it.each(Object.entries(HOSTILE_MESSAGES))('with a megabyte of %s in its message', async (_, message) => {
    const text = await told(
      commitContent({ tree: EMPTY_TREE, parents: [UPSTREAM], message: message(LARGE) }),
    );
    expect(text).toMatch(
      /This push would|Code hosts refuse such|Its description mentions|Its description refers/,
    );
    expect(text.length).toBeLessThan(100_000);
  });

  it.each(Array.from({ length: 32 }, (_, code) => [code]).filter(([code]) => code !== 10))(
    'with 250 KB of authors behind the control character %i in its header',
    async (code) => {
      const author = `${String.fromCharCode(code)}author `.repeat(LARGE / 32);
      const content = commitContent({ tree: EMPTY_TREE, parents: [UPSTREAM], author, message: 'Mend it\n' });
      expect(await told(content)).toMatch(/This push would open a pull request/);
    },
  );
});

const branch = (name: string, oid: string) => ({ name: `refs/heads/${name}`, oid: oid.repeat(40) });

const heldBy = (...others: (typeof MAIN)[]) =>
  branchesHolding({ branchesHolding: () => others }, new Set(), branch('next', 'a'), branch('main', 'b'));

describe('the branches that a fork is to have', () => {
  it('are one for each commit, with the base and the default branch', () => {
    const others = [branch('main', 'b'), branch('old', 'b'), branch('one', 'c'), branch('two', 'c')];
    expect(heldBy(...others).map(({ name }) => name)).toEqual([
      'refs/heads/next',
      'refs/heads/main',
      'refs/heads/one',
    ]);
  });

  it('are few', () => {
    const many = Array.from({ length: 100 }, (_, at) => ({ name: `refs/heads/${at}`, oid: `${at}` }));
    expect(heldBy(...many)).toHaveLength(22);
  });
});
