/**
 * `kill -9` at any moment of a push: workerd is killed when a random request of the push reaches
 * the code host, started again on the same state, and the person pushes once more. `KILLS=50
 * KILL_SEED=2 npx vitest run test/e2e/push/pr-kill.test.ts` for more of them, and others.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomFrom } from '../../../bench/support/random.ts';
import { type Service, startService } from '../../../local/runtime/service.ts';
import { builtWorker } from '../support/built-worker.ts';
import { freePorts } from '../../support/free-ports.ts';
import type { Clone, GitRun } from '../support/person.ts';
import { type Banner, bannerOf } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { topicTexts } from '../support/topic.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const KILLS = Number(process.env['KILLS'] ?? 5);
const SEED = Number(process.env['KILL_SEED'] ?? 1);
/**
 * A push sends some six to nine requests to the host; one that is not among them is answered
 * before.
 */
const MOST_REQUESTS = 9;
/** Between two requests. */
const MOST_MS = 25;
const WRITES = /\/(?:git-receive-pack|pulls)$/;
/**
 * The number of pull requests for each address, of the five that it may open: a push that dies
 * while it is judged costs its address a place.
 */
const PULLS_PER_ADDRESS = 2;

const bed = useOwnTestBed();
const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-kill-'));
let service: Service;

async function start(port: number): Promise<Service> {
  const { sandbox } = bed;
  return startService({
    build: builtWorker(),
    env: {
      HOSTING_URL: sandbox.url,
      HOSTING_API_URL: sandbox.apiUrl,
      HOSTING_TOKEN: sandbox.botToken,
      NOTIFY_BASE_URL: sandbox.notifyUrl,
      // Many kills open more than the usual limit allows in a minute.
      LIMIT_CREATIONS: '10000/1h',
      LIMIT_CALLS: '10000/1h',
      LIMIT_TARGET: '10000/1h',
      LIMIT_THREAD: '10000/1h',
    },
    port,
    stateDir,
    writeLog: () => {},
  });
}

beforeAll(async () => {
  service = await start(await freePorts());
});

afterAll(async () => {
  await service.dispose();
  rmSync(stateDir, { recursive: true, force: true });
});

/** When to kill it: after so many requests have come from it, and so many milliseconds more. */
interface Moment {
  readonly requests: number;
  readonly ms: number;
}

/** Kills the service, and starts it again. */
async function killAfter({ requests, ms }: Moment, isOver: () => boolean): Promise<void> {
  const before = bed.host.requests.length;
  // Real hosts take their time for what is written: that a kill falls into it is what matters.
  bed.sandbox.faults.inject({ method: 'POST', path: WRITES, times: 2, delayMs: 10 });
  while (bed.host.requests.length < before + requests && !isOver()) await delay(1);
  await delay(ms);
  process.kill(service.workerdPid, 'SIGKILL');
  await service.dispose();
  service = await start(Number(new URL(service.url).port));
}

/** Pushes through a service that dies meanwhile, and again until there is an answer. */
async function pushDespite(moment: Moment, push: () => Promise<GitRun>): Promise<GitRun> {
  let pushed: GitRun | null = null;
  const pushing = push().then((run) => (pushed = run));
  await killAfter(moment, () => pushed !== null);
  const first = await pushing;
  return first.code === 0 ? first : push();
}

interface Opened {
  readonly banner: Banner;
  readonly clone: Clone;
  updates: number;
}

async function statistics(): Promise<unknown> {
  return (await fetch(`${service.url}/api/stats`)).json();
}

async function newClone(upstream: Upstream): Promise<Clone> {
  return bed.person().copy({ path: upstream.path, url: `${service.url}/v1/gh/${upstream.fullName}` });
}

it(
  `loses and doubles nothing, ${KILLS} times (seed ${SEED})`,
  { ...exhaustive, timeout: KILLS * 30_000 },
  async () => {
    const numbers = randomFrom(SEED);
    const random = (below: number) => Math.floor(numbers() * below);
    const upstream = await bed.createUpstream();
    const opened: Opened[] = [];
    for (let round = 0; round < KILLS; round++) {
      const moment = { requests: random(MOST_REQUESTS), ms: random(MOST_MS) };
      const updated = random(4) === 0 ? opened.at(-1) : undefined;
      const last = opened.at(-1)?.clone;
      const clone =
        updated?.clone ??
        (last === undefined || opened.length % PULLS_PER_ADDRESS === 0 ? await newClone(upstream) : last);
      await clone.commit({ message: `Round ${round}\n` });
      const options = updated === undefined ? [] : ['-o', `pr-hash=${updated.banner.prHash}`];
      const pushed = await pushDespite(moment, () => clone.push(...options, 'origin', 'HEAD:topic'));
      expect(
        pushed.code,
        `round ${round} of seed ${SEED}, ${JSON.stringify(moment)}:\n${pushed.stderr}`,
      ).toBe(0);
      if (updated === undefined) opened.push({ banner: bannerOf(pushed), clone, updates: 0 });
      else updated.updates += 1;
    }

    const pulls = await bed.host.pulls(upstream);
    expect(pulls.map(({ url }) => url)).toEqual(opened.map(({ banner }) => banner.prUrl));
    expect(await bed.host.workBranches(upstream)).toHaveLength(opened.length);
    await expect.poll(statistics).toMatchObject({ total_prs: opened.length });
    for (const { banner, updates } of opened) {
      const count = async (word: string) =>
        (await topicTexts(bed, banner.prHash)).filter((message) => message.includes(` ${word}:`)).length;
      await expect.poll(() => count('opened')).toBeGreaterThan(0);
      await expect.poll(() => count('updated')).toBeGreaterThanOrEqual(updates);
    }
  },
);
