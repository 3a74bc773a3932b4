import { describe, expect, it } from 'vitest';
import { burstToTell, type ToldBurst } from '../../../src/durable/guard/burst-alerts.ts';
import { BurstDetector } from '../../../src/durable/guard/burst-detector.ts';

const START = 1_800_000_000_000;
const MINUTE_MS = 60_000;

interface Push {
  readonly client: string;
  readonly at: number;
  /** Default: the client is alone there. */
  readonly site?: string;
}

/** The pushes at which the operator is told, as `pushes/addresses`. */
function told(pushes: readonly Push[]): string[] {
  const detector = new BurstDetector();
  let last: ToldBurst | null = null;
  return pushes.flatMap(({ client, at, site = client }) => {
    const hasBegun = detector.record({ address: client, site }, START + at) !== null;
    if (!detector.isOn) return [];
    const next = burstToTell(last, detector.figures, hasBegun, () => detector.busiest(), START + at);
    if (next === null) return [];
    last = next;
    return [`${next.pushes}/${next.addresses}`];
  });
}

/** So many pushes, evenly within a time. */
const evenly = (count: number, withinMs: number, clientOf: (index: number) => string, from = 0) =>
  Array.from({ length: count }, (_, index) => ({
    client: clientOf(index),
    at: from + Math.floor((index * withinMs) / count),
  }));

describe('a burst is told', () => {
  it('when it begins, and each time its figures have doubled', () => {
    expect(told(evenly(600, MINUTE_MS, (index) => `${index % 9}`))).toEqual([
      '20/9',
      '40/9',
      '80/9',
      '160/9',
      '320/9',
    ]);
  });

  it('also if a trickle has kept the detector from arming again', () => {
    const begin = evenly(20, 1000, (index) => `${index % 9}`);
    const trickle = evenly(24, 2 * MINUTE_MS, (index) => `${index % 6}`, 1000);
    const flood = evenly(600, MINUTE_MS / 2, (index) => `${index}`, 1000 + 2 * MINUTE_MS);
    const alerts = told([...begin, ...trickle, ...flood]);
    expect(alerts.length).toBeGreaterThan(4);
    expect(Number(alerts.at(-1)?.split('/')[0])).toBeGreaterThan(300);
  });

  it('every ten minutes as long as it lasts', () => {
    expect(told(evenly(31 * 15, 31 * MINUTE_MS, (index) => `${index % 12}`))).toHaveLength(4);
  });

  it('again when another one begins', () => {
    const alerts = told(
      [0, 3 * MINUTE_MS].flatMap((from) => evenly(20, 1000, (index) => `${index % 12}`, from)),
    );
    expect(alerts).toEqual(['10/10', '20/12', '10/10', '20/12']);
  });
});

describe('one client alone', () => {
  it('is told once in ten minutes, however much it sends and however often it pauses', () => {
    const again = Array.from({ length: 10 }, (_, minute) =>
      evenly(20 + 20 * minute, 1000, () => 'a', minute * (MINUTE_MS + 1)),
    ).flat();
    const alerts = told(again.filter(({ at }) => at < 10 * MINUTE_MS));
    expect(alerts).toEqual(['20/1']);
    expect(told([...again, ...evenly(20, 1000, () => 'a', 12 * MINUTE_MS)])).toHaveLength(2);
  });

  it('does not hide a crowd, nor another client that sends twice as much', () => {
    const alone = evenly(20, 1000, () => 'a');
    const crowd = evenly(9, 1000, (index) => `${index}`, 1000);
    expect(told([...alone, ...crowd])).toEqual(['20/1', '29/10']);
    expect(told([...alone, ...evenly(60, 1000, () => 'b', 3 * MINUTE_MS)])).toEqual(['20/1', '40/1']);
  });

  it('is also one with all the networks of an IPv6 /48', () => {
    const tunnel = (round: number): readonly Push[] =>
      evenly(10, 1000, (index) => `${round}/${index}`, round * (MINUTE_MS + 1000)).map(({ client, at }) => ({
        client,
        at,
        site: 'tunnel',
      }));
    const rounds = Array.from({ length: 9 }, (_, round) => tunnel(round)).flat();
    expect(told(rounds)).toEqual(['10/10']);
    const crowd = evenly(10, 1000, (index) => `${index}`, 1000);
    expect(told([...tunnel(0), ...crowd])).toEqual(['10/10', '20/20']);
  });
});
