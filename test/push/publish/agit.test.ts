/**
 * One push that opens or updates a pull request (AGit flow), at a host that changes, forgets and
 * fails meanwhile.
 */
import { describe, expect, it } from 'vitest';
import { ZERO_OID } from '../../../src/git/objects/oid.ts';
import { HostError } from '../../../src/words/host-error.ts';
import type { AgitHost } from '../../../src/host/open.ts';
import type { AgitRequest, HostPullRequest } from '../../../src/host/code-host.ts';
import type { PushReport } from '../../../src/host/git/git-answers.ts';
import { AgitDelivery } from '../../../src/push/publish/agit.ts';
import { mayBeOpen, type Proposal } from '../../../src/push/publish/delivery.ts';
import type { PushRun } from '../../../src/push/push-run.ts';
import { HostSteps } from '../../../src/push/reply/refusal.ts';
import type { Publishable } from '../../../src/push/verdict.ts';
import { systemClock } from '../../../src/isolate/clock.ts';

const OLD = 'a'.repeat(40);
const NEW = 'b'.repeat(40);
const THEIRS = 'c'.repeat(40);
const NAME = { owner: 'mona', name: 'hello' };

const pullRequest = (number: number): HostPullRequest => ({
  number,
  url: `https://host.test/mona/hello/pulls/${number}`,
  isOpen: true,
  isMerged: false,
  base: 'main',
  source: { repository: NAME, refName: `refs/pull/${number}/head` },
  fork: null,
  id: 100 + number,
});

const report = (number: number, reason: string | null = null): PushReport => ({
  unpackStatus: 'ok',
  commandStatuses: [{ refName: 'refs/for/main', reason, updatedRef: `refs/pull/${number}/head` }],
  messages: '',
});

interface Happens {
  /** Where the pull request ends, look by look; the last one stays. Null: it is not shown. */
  readonly tips?: readonly (string | null)[];
  readonly pushed?: () => PushReport;
  readonly found?: () => HostPullRequest | null;
  /** Whether the new commits stand on the old ones. */
  readonly isForward?: boolean;
}

const planned = (text: string) => ({ bytes: Buffer.from(text), mentions: [] });

const lost = (): never => {
  throw new HostError('unreachable', 'No answer.');
};

/** An update of pull request 3. */
function updating({ tips = [OLD], pushed = () => report(3), found = () => null, isForward }: Happens) {
  const looks = [...tips];
  const requests: AgitRequest[] = [];
  const delivered: { number: number; text: AgitRequest['text'] }[] = [];
  const said: string[] = [];
  let sent = 0;
  const host: Partial<AgitHost> = {
    agitPush: (request) => {
      requests.push(request);
      return { refName: `refs/for/${request.base}`, pushOptions: [] };
    },
    isStale: (reason) => /force-push/.test(reason),
    delivered: async (_, number, text) => {
      delivered.push({ number, text });
      return pullRequest(number);
    },
    findDelivered: async () => found(),
    editPullRequest: async () => {},
  };
  const clock = systemClock;
  const transport = {
    hostName: 'host.test',
    listRefs: async (_: unknown, [name]: readonly string[]) => {
      const oid = looks.length > 1 ? looks.shift() : looks[0];
      return { refs: oid === null ? [] : [{ name, oid }] };
    },
    push: async (_: unknown, body: ReadableStream<Uint8Array>) => {
      await body.pipeTo(new WritableStream());
      sent += 1;
      return pushed();
    },
    pushCapabilities: async () => new Set(['push-options']),
  };
  const say = async (...lines: readonly string[]) => void said.push(...lines);
  const reply = { note: say, step: say, waiting: say };
  const run = {
    host: { transport, clock, botLogin: async () => 'bot', repositories: host },
    settings: { writeTimeoutMs: 30_000 },
    steps: new HostSteps(clock, reply as unknown as PushRun['reply'], 'host.test'),
    reply,
  } as unknown as PushRun;
  const named = { prHash: '0123456789ab', pullRequest: pullRequest(3), tip: OLD };
  const text = { title: planned('T'), description: planned('B') };
  const newest = { parents: [], encoding: null, message: planned('T') };
  const push = {
    repository: NAME,
    named,
    base: { name: 'refs/heads/main' },
    footer: '',
    ...text,
    commits: { length: 1, at: () => newest },
  };
  const commits = new Set(isForward === true ? [OLD, NEW] : [NEW]);
  const proposal = {
    prHash: named.prHash,
    earlier: null,
    anonymous: Object.assign(commits, { tip: NEW }),
    pack: async function* () {
      yield new Uint8Array(8);
    },
    onlyFrom: null,
    mayGoOn: async () => {},
  } as unknown as Proposal;
  const delivery = new AgitDelivery(run, host as AgitHost, push as unknown as Publishable);
  const outcome = delivery.deliver(proposal);
  return { outcome, requests, delivered, said, sent: () => sent };
}

describe('a forced update', () => {
  it('is sent where the pull request still ends where it was judged', async () => {
    const { outcome, requests } = updating({});
    expect(await outcome).toMatchObject({ number: 3 });
    expect(requests).toMatchObject([{ isForced: true, text: null }]);
  });

  it('is given up, and sends nothing, where a second look finds other commits', async () => {
    const { outcome, sent } = updating({ tips: [THEIRS] });
    await expect(outcome).rejects.toMatchObject({ code: 'overtaken' });
    expect(sent()).toBe(0);
  });

  it.each([
    ['not shown', null],
    ['shown at the zero id', ZERO_OID],
  ])('is given up, and sends nothing, where the commits are %s', async (_, tip) => {
    const { outcome, sent } = updating({ tips: [tip] });
    await expect(outcome).rejects.toMatchObject({
      code: 'lookup',
      lines: expect.arrayContaining([expect.stringContaining('does not show the commits')]) as string[],
    });
    expect(sent()).toBe(0);
  });

  it('needs no look where the new commits stand on the old ones: the host refuses what does not', async () => {
    const { outcome, requests } = updating({ tips: [THEIRS], isForward: true });
    expect(await outcome).toMatchObject({ number: 3 });
    expect(requests).toMatchObject([{ isForced: false }]);
  });
});

describe('an update of what was closed meanwhile', () => {
  it('names the new pull request, which gets the whole text', async () => {
    const { outcome, delivered, said } = updating({ pushed: () => report(4) });
    expect(await outcome).toMatchObject({ number: 4 });
    expect(said).toContain('The pull request was closed or changed meanwhile, so a new one was opened:');
    expect(said).toContain('  https://host.test/mona/hello/pulls/4');
    expect(delivered.at(-1)).toMatchObject({ number: 4, text: { title: 'T', body: 'B' } });
  });
});

describe('an update whose answer is lost', () => {
  it('has taken place where the host shows its commits', async () => {
    const { outcome, sent } = updating({ pushed: lost, found: () => pullRequest(3) });
    expect(await outcome).toMatchObject({ number: 3 });
    expect(sent()).toBe(1);
  });

  it('may have taken place where the host does not say either, and is not sent twice', async () => {
    const { outcome, sent } = updating({ pushed: lost, found: lost });
    const error: unknown = await outcome.catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'offer' });
    expect(mayBeOpen(error)).toBe(true);
    expect(sent()).toBe(1);
  });

  it('may have taken place where the host refuses it in its report, and then does not answer', async () => {
    const { outcome } = updating({ pushed: () => report(3, 'hook declined'), found: lost });
    const error: unknown = await outcome.catch((failure: unknown) => failure);
    expect(mayBeOpen(error)).toBe(true);
    expect(error).toMatchObject({
      lines: expect.arrayContaining(['Push the same commits again later.']) as string[],
    });
  });
});
