/** Warnings of a pull request that would repeat another one of the service, or one that ended. */
import { describe, expect, it, vi } from 'vitest';
import type { Place } from '../../../../src/push/judge/questions.ts';
import { doubles } from '../../../../src/push/judge/rules/doubles.ts';
import type { SameWork } from '../../../../src/push/reply/reply.ts';
import { parsePushOptions } from '../../../../src/push/receive/push-options.ts';
import { knownPush } from '../../../support/known-push.ts';

const REMOTE = 'https://gitveil.test/v1/gh/octo/hello';
const PR_HASH = '0123456789ab';
const OPEN: SameWork = {
  prHash: PR_HASH,
  number: 7,
  url: 'https://git.test/octo/hello/pull/7',
  state: 'open',
  endedOn: null,
  shared: 1,
};
const CLOSED: SameWork = { ...OPEN, state: 'closed', endedOn: '2026-11-29' };

type Facts = NonNullable<Parameters<typeof knownPush>[0]>;
interface Given extends Facts {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly recorded?: SameWork | null;
  readonly place?: Place;
}

/** A push of two commits, unless something else is given. */
function pushOf({ settings, recorded = null, place, ...facts }: Given = {}) {
  const push = knownPush({ commits: [{}, { message: 'Two\n' }], ...facts });
  const newId = 'abcdef0123456789'.padEnd(40, '0');
  const given = {
    door: 'git',
    prUpdatePolicy: 'hash',
    pushDoubles: 'tell',
    remoteUrl: () => REMOTE,
    pageUrl: (prHash: string) => `https://gitveil.test/v1/pr/${prHash}`,
    ...settings,
  };
  return {
    ...push,
    place: place ?? null,
    received: {
      ...push.received,
      options: { ...parsePushOptions([]).options, ...facts.options },
      taken: { command: { newId, refName: 'refs/heads/more' } },
    },
    circumstances: { settings: given, records: { recorded: vi.fn(async () => recorded) } },
    pushed: { ...push.pushed, base: { name: 'refs/heads/main', oid: '1'.repeat(40) } },
  } as unknown as Parameters<typeof doubles>[0];
}

/** Answers code and lines of each warning. */
async function told(found: SameWork | null | undefined, given?: Given) {
  const findings = await doubles(pushOf(given), { found });
  return findings.map(({ severity, code, lines }) => [`${severity} ${code}`].concat(lines));
}

const named = (pullRequest: object) =>
  ({
    options: { prHash: PR_HASH },
    destination: { named: { prHash: PR_HASH, pullRequest: { url: OPEN.url, number: 7, ...pullRequest } } },
  }) as unknown as Given;

describe('commits of an open pull request', () => {
  const UPDATE = `git push -o pr-hash=${PR_HASH} ${REMOTE} abcdef012345:refs/heads/more`;

  it('are told with the command that updates it', async () => {
    expect(await told(OPEN)).toEqual([
      [
        'warn second',
        `Warning: this would be a SECOND pull request. 1 of your 2 commits is already in ${OPEN.url}.`,
        'To update that one:',
        `  ${UPDATE}`,
      ],
    ]);
  });

  it('may be all of them, pushed again because the answer was lost', async () => {
    const [[, first, repeated] = []] = await told({ ...OPEN, shared: 2 });
    expect(first).toContain('Your 2 commits are already in');
    expect(repeated).toMatch(/^If this is the same push once more/);
    const [[, only] = []] = await told(OPEN, { commits: [{}] });
    expect(only).toContain('Your commit is already in');
  });

  it('may be those of a request that is retried, which is said where each has one answer', async () => {
    const door = { name: 'bundle', used: [] };
    const [lines = []] = await told({ ...OPEN, shared: 2 }, { settings: { door } });
    expect(lines[3]).toBe(
      'If this is a retry because no answer came: it is open, and nothing is left to do.',
    );
    expect(lines.at(-1)).toBe(`  curl --data-binary '@<your file>' '${REMOTE}/bundle?pr-hash=${PR_HASH}'`);
  });

  it.each([
    [
      'the options that change messages',
      { signOff: true, stripTrails: true },
      {},
      '-o sign-off -o strip-trails',
    ],
    ['no draft, which an update cannot be', { draft: true }, {}, `-o pr-hash=${PR_HASH} ${REMOTE}`],
    ['the key for texts', { title: 'Mine' }, {}, "-o 'pr-key=<key>'"],
    ['the key where updates need it', {}, { prUpdatePolicy: 'key' }, "-o 'pr-key=<key>'"],
  ])('are told with a command that has %s', async (_, options, settings, words) => {
    const [lines = []] = await told(OPEN, { options, settings });
    expect(lines.at(-1)).toContain(words);
  });

  it('are refused where the operator wants no doubles, with the options that update it', async () => {
    const refused = doubles(pushOf({ settings: { pushDoubles: 'refuse' } }), { found: OPEN });
    await expect(refused).rejects.toMatchObject({ code: 'double', needs: [`pr-hash=${PR_HASH}`] });
  });

  it('are not told of an update, nor of what only the author has ended', async () => {
    expect(await told(OPEN, { destination: { updates: true } })).toEqual([]);
    expect(await told({ ...OPEN, state: 'withdrawn' })).toEqual([]);
    expect(await told(null)).toEqual([]);
  });

  it('may be unknown, which is said', async () => {
    expect(await told(undefined)).toEqual([
      ['say second', 'The service could not check whether your commits are open already.'],
    ]);
  });
});

it('commits that are merged are told with the command that leaves them out', async () => {
  expect(await told({ ...OPEN, state: 'merged' })).toEqual([
    [
      'warn merged',
      `1 of your 2 commits is merged already, with ${OPEN.url}. This would open a NEW pull request.`,
      'To leave out what is merged:',
      `  git pull --rebase ${REMOTE} refs/heads/main`,
    ],
  ]);
});

describe('a pull request that maintainers have closed', () => {
  const LINES = [
    'warn closed',
    `${OPEN.url} was closed on 2026-11-29; read what was written: https://gitveil.test/v1/pr/${PR_HASH}`,
    'This would open a NEW pull request.',
  ];
  it('is told, without a question to the host about it', async () => {
    const ask = new Proxy({}, { get: () => expect.fail('the host was asked') });
    const place = { ask } as unknown as Place;
    expect(await told(CLOSED, { place })).toEqual([LINES]);
  });
});

describe('the pull request that the push names', () => {
  it('is told of once, with the commits that it has', async () => {
    const merged = named({ isOpen: false, isMerged: true });
    expect(await told({ ...OPEN, shared: 2 }, merged)).toMatchObject(
      [['warn merged', expect.stringContaining('Your 2 commits are merged already')]].map(
        (lines) => expect.arrayContaining(lines) as unknown,
      ),
    );
    expect(await told(null, merged)).toEqual([
      ['warn merged', `${OPEN.url} is merged already. This would open a NEW pull request.`],
    ]);
  });

  it('is closed if the host says so, before the service has heard of it', async () => {
    const [lines = []] = await told(null, { ...named({ isOpen: false, isMerged: false }), recorded: OPEN });
    expect(lines[1]).toMatch(/\/7 was closed; read/);
  });

  it('is not told of as open where it cannot be updated: its fork is gone, or the host shows none', async () => {
    expect(await told(OPEN, named({ isOpen: true, isMerged: false, source: null }))).toEqual([]);
    expect(await told(OPEN, { options: { prHash: PR_HASH } })).toEqual([]);
  });

  it('is not told of if its author has withdrawn it, and what another one has is', async () => {
    const given = {
      ...named({ isOpen: false, isMerged: false }),
      recorded: { ...OPEN, state: 'withdrawn' } as const,
    };
    expect(await told(null, given)).toEqual([]);
    const other = { ...OPEN, prHash: 'fedcba987654' };
    expect((await told(other, given)).map(([code]) => code)).toEqual(['warn second']);
  });

  it('is known by the service’s own record alone where the host is not asked', async () => {
    const claim = { lease: 1, recorded: { prHash: PR_HASH }, dates: [] };
    const quiet = { options: { prHash: PR_HASH }, destination: { claim } } as unknown as Given;
    expect((await told(null, { ...quiet, recorded: CLOSED })).map(([code]) => code)).toEqual(['warn closed']);
    expect(await told(null, { ...quiet, recorded: OPEN })).toEqual([]);
    const unknown = { options: { prHash: PR_HASH } } as Given;
    expect(await told(null, { ...unknown, recorded: CLOSED })).toEqual([]);
  });
});
