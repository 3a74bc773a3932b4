/**
 * The answer to a push is complete for every kind of client, read by a parser that is not the
 * service's.
 */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/isolate/clock.ts';
import { SideBandReply } from '../../../src/push/reply/reply.ts';
import { readPkts, readReport } from '../../support/pkt-line.ts';

const OK = { unpackStatus: 'ok', commandStatuses: [{ refName: 'refs/heads/x', reason: null }] };
const REFUSED = {
  unpackStatus: 'ok',
  commandStatuses: [{ refName: 'refs/heads/x', reason: 'push rejected: no' }],
};

function replyTo(...capabilities: string[]) {
  const written: Uint8Array[] = [];
  const write = async (bytes: Uint8Array): Promise<boolean> => written.push(bytes) > 0;
  return {
    reply: new SideBandReply(new Set(capabilities)),
    write,
    written,
    whole: () => Buffer.concat(written),
  };
}

describe('a reply', () => {
  it('shows what a terminal would obey, or nobody would see', async () => {
    const { reply, write, whole } = replyTo('side-band-64k', 'report-status');
    await reply.open(write);
    await reply.note('a\u001b[2Jb\u0007c\bd', '\tadmin\u202e\u2066nimda\u200b', 'zoë 👩 山');
    await reply.finish(REFUSED, 'push rejected: \u009b');
    expect(readReport(whole())).toMatchObject({
      progress: ['a[U+001B][2Jb[U+0007]c[U+0008]d', '\tadmin[U+202E][U+2066]nimda[U+200B]', 'zoë 👩 山'],
      errors: ['push rejected: [U+009B]'],
    });
  });

  it('holds lines back until the client listens, and then sends each at once', async () => {
    const { reply, write, written, whole } = replyTo('side-band-64k', 'report-status');
    await reply.note('first', 'second');
    expect(written).toHaveLength(0);
    await reply.open(write);
    expect(written).toHaveLength(1);
    await reply.note('third');
    expect(written).toHaveLength(2);
    await reply.finish(OK, null);
    expect(readReport(whole())).toEqual({
      report: ['unpack ok', 'ok refs/heads/x'],
      progress: ['first', 'second', 'third'],
      errors: [],
    });
  });

  it('of a refusal ends with the report, the final line and a flush in one piece', async () => {
    const { reply, write, written } = replyTo('side-band-64k', 'report-status');
    await reply.open(write);
    await reply.finish(REFUSED, 'push rejected: no');
    expect(written).toHaveLength(1);
    expect(readReport(written[0] as Uint8Array)).toMatchObject({
      report: ['unpack ok', 'ng refs/heads/x push rejected: no'],
      errors: ['push rejected: no'],
    });
  });

  it('sends an empty packet every second of work, and none behind its end', async () => {
    const { reply, write, written } = replyTo('side-band-64k', 'report-status');
    await reply.open(write);
    const working = Promise.withResolvers<string>();
    const waits: number[] = [];
    const clock: Clock = {
      now: () => 0,
      async sleep(ms, signal) {
        if (waits.push(ms) === 4) working.resolve('done');
        await scheduler.wait(0, signal && { signal }).catch(() => {});
      },
    };
    expect(await reply.keepAlive(clock, working.promise)).toBe('done');
    await reply.finish(OK, null);
    await scheduler.wait(0);
    expect(waits).toEqual([1_000, 1_000, 1_000, 1_000]);
    const packets = written.map((bytes) => Buffer.from(bytes).toString('latin1'));
    expect(packets.slice(0, -1)).toEqual(Array(3).fill('0005\u0001'));
    expect(readReport(written.at(-1) as Uint8Array)).toMatchObject({
      report: ['unpack ok', 'ok refs/heads/x'],
    });
  });

  it('sends none to a client that knows no bands, where it would be a part of the report', async () => {
    const { reply, write, written } = replyTo('report-status');
    await reply.open(write);
    const clock: Clock = { now: () => 0, sleep: () => scheduler.wait(0) };
    await reply.keepAlive(clock, scheduler.wait(5));
    expect(written).toEqual([]);
  });

  it('without side-band is the bare report', async () => {
    const { reply, write, whole } = replyTo('report-status');
    await reply.note('nobody could tell this from the report');
    await reply.open(write);
    await reply.note('nor this');
    await reply.finish(REFUSED, 'push rejected: no');
    expect(readPkts(whole()).map((packet) => packet?.toString() ?? null)).toEqual([
      'unpack ok\n',
      'ng refs/heads/x push rejected: no\n',
      null,
    ]);
  });

  it('without a wish for the report still tells in lines', async () => {
    const { reply, write, whole } = replyTo('side-band-64k');
    await reply.open(write);
    await reply.note('line');
    await reply.finish(REFUSED, 'push rejected: no');
    const bands = readPkts(whole()).map((packet) => packet?.toString() ?? null);
    expect(bands).toEqual(['\u0002line\n', '\u0003push rejected: no', null]);
  });

  it('to a client that wants nothing is empty', async () => {
    const { reply, write, whole } = replyTo();
    await reply.open(write);
    await reply.finish(OK, null);
    expect(whole()).toHaveLength(0);
  });

  it('carries a report of a thousand refs in as many packets as it needs', async () => {
    const commandStatuses = Array.from({ length: 1000 }, (_, index) => ({
      refName: `refs/heads/${'x'.repeat(200)}${index}`,
      reason: 'one branch per push: push this one separately',
    }));
    const { reply, write, whole } = replyTo('side-band-64k', 'report-status');
    await reply.open(write);
    await reply.finish({ unpackStatus: 'ok', commandStatuses }, null);
    expect(readReport(whole()).report).toHaveLength(1 + 1000);
  });
});
