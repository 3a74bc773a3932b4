/** Warnings are told before anything is public, and whoever leaves then has said no. */
import { describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/isolate/clock.ts';
import {
  ASKED_BEFORE,
  ASKED_BY_ANSWER,
  codesOf,
  newWarnings,
  unconfirmed,
  TimedConsent,
} from '../../src/push/consent.ts';
import { SideBandReply } from '../../src/push/reply/reply.ts';
import { type Finding, say, warn } from '../../src/words/finding.ts';
import { readPkts } from '../support/pkt-line.ts';

const COMMAND = 'git push -o yes=metadata,people https://gitveil.test/v1/gh/octo/hello HEAD:refs/heads/x';
const FINDINGS = [
  ...say('gate', 'This repository runs a workflow.'),
  ...warn('people', 'Two people are named:', '  Ada'),
  ...warn('metadata', 'A picture says more than it shows.'),
];

/** A push that waits on a clock that the test moves. */
function waiting({ waitMs = 10_000, capabilities = ['side-band-64k'], isBroken = false } = {}) {
  const written: Uint8Array[] = [];
  const reply = new SideBandReply(new Set(capabilities));
  const departed = new AbortController();
  const waits: number[] = [];
  const time = Promise.withResolvers<void>();
  const clock: Clock = {
    now: () => 0,
    sleep(ms, signal) {
      waits.push(ms);
      const aborted = Promise.withResolvers<void>();
      signal?.addEventListener('abort', () => aborted.resolve());
      if (signal?.aborted) aborted.resolve();
      return Promise.race([time.promise, aborted.promise]);
    },
  };
  const opened = reply.open(async (bytes) => {
    written.push(bytes);
    return !isBroken;
  });
  const onWait = vi.fn(async () => {});
  const wait = new TimedConsent(reply, clock, waitMs, departed.signal);
  return {
    onWait,
    wait,
    ask: async (findings: readonly Finding[] = FINDINGS) => {
      await opened;
      return wait.ask({ findings, command: COMMAND }, onWait);
    },
    lines: () => {
      const told = readPkts(Buffer.concat(written)).map((packet) => packet?.subarray(1).toString());
      return told.join('').split('\n').slice(0, -1);
    },
    leave: () => departed.abort(),
    timeIsUp: () => time.resolve(),
    waits,
  };
}

describe('Git', () => {
  it('is told every warning with its code, how to stop, and the command that does not wait', async () => {
    const push = waiting();
    push.timeIsUp();
    expect(await push.ask()).toBe(true);
    expect(push.waits).toEqual([10_000]);
    expect(push.onWait).toHaveBeenCalledOnce();
    expect(push.lines()).toEqual([
      'This repository runs a workflow.',
      '[people] Two people are named:',
      '  Ada',
      '[metadata] A picture says more than it shows.',
      '',
      'Publishing in 10 seconds. Press Ctrl-C to stop: nothing is public yet.',
      'To publish without waiting, run:',
      `  ${COMMAND}`,
      '',
    ]);
  });

  it('that leaves in the meantime has stopped the push', async () => {
    const push = waiting();
    const asking = push.ask();
    push.leave();
    await expect(asking).rejects.toMatchObject({ code: 'stopped' });
  });

  it('that leaves after the wait has stopped the push, until it is published', async () => {
    const push = waiting();
    push.timeIsUp();
    await push.ask();
    expect(() => push.wait.stillThere()).not.toThrow();
    push.leave();
    expect(() => push.wait.stillThere()).toThrow(expect.objectContaining({ code: 'stopped' }));
  });

  it('that was not asked may leave, and the push goes on', async () => {
    const push = waiting({ waitMs: 0 });
    await push.ask();
    push.leave();
    expect(() => push.wait.stillThere()).not.toThrow();
  });

  it('that left before has stopped the push', async () => {
    const push = waiting();
    push.leave();
    await expect(push.ask()).rejects.toMatchObject({ code: 'stopped' });
  });

  it('whose connection does not take the warnings has not read them', async () => {
    await expect(waiting({ isBroken: true }).ask()).rejects.toMatchObject({ code: 'stopped' });
  });

  it.each([
    ['shows no lines', { capabilities: ['report-status'] }],
    ['is quiet', { capabilities: ['side-band-64k', 'quiet'] }],
    ['pushes to a service without a wait', { waitMs: 0 }],
  ])('that %s is not kept waiting', async (_, options) => {
    const push = waiting(options);
    expect(await push.ask()).toBe(false);
    expect(push.waits).toEqual([]);
    expect(push.onWait).not.toHaveBeenCalled();
    expect(push.lines()).toEqual([]);
  });

  it('is shown fourteen of a thousand warnings, and their number', async () => {
    const push = waiting();
    push.timeIsUp();
    await push.ask(Array.from({ length: 1_000 }, () => warn('people', 'Somebody is named.')).flat());
    const lines = push.lines();
    expect(lines.filter((line) => line === '[people] Somebody is named.')).toHaveLength(14);
    expect(lines).toContain('and 986 more warnings.');
  });
});

describe('a door with one answer', () => {
  it('refuses with the warnings and the command', () => {
    const expected = {
      code: 'unconfirmed',
      warnings: FINDINGS.slice(1),
      lines: [expect.any(String), COMMAND],
    };
    const ask = async () => ASKED_BY_ANSWER.ask({ findings: FINDINGS, command: COMMAND }, async () => {});
    return expect(ask()).rejects.toMatchObject(expected);
  });
});

it('of a form goes on, because its preview has shown the warnings', async () => {
  expect(await ASKED_BEFORE.ask({ findings: FINDINGS, command: COMMAND }, async () => {})).toBe(false);
});

it('finds warnings that are new, or have become others', () => {
  const more = warn('people', 'Two people are named:', '  Grace');
  expect(newWarnings([...FINDINGS, ...more, ...say('gate', 'New.')], FINDINGS)).toEqual(more);
});

it('asks about no warning that was accepted, nor about a mere remark', () => {
  expect(unconfirmed(FINDINGS, ['people'])).toEqual(FINDINGS.slice(2));
});

it('names each code once, and none of a mere remark', () => {
  expect(codesOf([...FINDINGS, ...FINDINGS])).toEqual(['metadata', 'people']);
});
