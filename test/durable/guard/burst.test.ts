import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BurstDetector, PUSH_BURST, type ToldBurst } from '../../../src/durable/guard/burst.ts';
import { runs } from '../../support/runs.ts';

const START = 1_800_000_000_000;
const MINUTE_MS = 60_000;

/** The same by its definition, over everything that ever happened. */
class Model {
  readonly #pushes: { at: number; address: string }[] = [];
  #isOn = false;

  record(address: string, now: number) {
    const before = this.#figures(now);
    if (before.events <= 10 && before.addresses <= 5) this.#isOn = false;
    this.#pushes.push({ at: now, address });
    const figures = this.#figures(now);
    const fires = !this.#isOn && (figures.events >= 20 || figures.addresses >= 10);
    this.#isOn ||= fires;
    return { fires, figures };
  }

  #figures(now: number) {
    const recent = this.#pushes.filter(({ at }) => now - at < 60_000);
    return { events: recent.length, addresses: new Set(recent.map(({ address }) => address)).size };
  }
}

function recordAll(detector: BurstDetector, pushes: readonly { address: string; at: number }[]) {
  return pushes.map(({ address, at }) =>
    detector.record({ address, prefix: address }, at) ? detector.figures : null,
  );
}

const pushesOf = (count: number, addressOf: (index: number) => string, at = START) =>
  Array.from({ length: count }, (_, index) => ({ address: addressOf(index), at: at + index }));

describe('the burst detector', () => {
  it('does what its definition says, whenever the pushes come', () => {
    const push = fc.record({
      gap: fc.oneof(fc.nat(3000), fc.nat(15_000), fc.constantFrom(59_999, 60_000)),
      address: fc.integer({ min: 1, max: 14 }).map(String),
    });
    fc.assert(
      fc.property(fc.array(push, { maxLength: 150 }), (pushes) => {
        const [detector, model] = [new BurstDetector(PUSH_BURST), new Model()];
        let now = START;
        for (const { gap, address } of pushes) {
          now += gap;
          const fires = detector.record({ address, prefix: address }, now);
          expect({ fires, figures: detector.figures }).toEqual(model.record(address, now));
        }
      }),
      runs(100),
    );
  });

  it('fires at the twentieth push within a minute', () => {
    const fired = recordAll(
      new BurstDetector(PUSH_BURST),
      pushesOf(25, (index) => `${index % 9}`),
    );
    expect(fired.findIndex(Boolean)).toBe(19);
    expect(fired.filter(Boolean)).toEqual([{ events: 20, addresses: 9 }]);
  });

  it('fires at the tenth address', () => {
    const fired = recordAll(
      new BurstDetector(PUSH_BURST),
      pushesOf(15, (index) => `${index}`),
    );
    expect(fired.filter(Boolean)).toEqual([{ events: 10, addresses: 10 }]);
  });

  it.each([
    [6, 0],
    [5, 1],
  ])('is armed again when addresses have fallen to half: with %i left it tells %i more', (left, alerts) => {
    const detector = new BurstDetector(PUSH_BURST);
    recordAll(
      detector,
      pushesOf(10, (index) => `${index}`),
    );
    // The first ones leave the window, so many are left; then there are ten again.
    const later = START + 60_000 + (10 - left) - 1;
    const again = recordAll(
      detector,
      Array.from({ length: 10 - left }, (_, index) => ({ address: `new-${index}`, at: later })),
    );
    expect(again.filter(Boolean)).toHaveLength(alerts);
  });

  it('fires again at the next burst', () => {
    const detector = new BurstDetector(PUSH_BURST);
    recordAll(
      detector,
      pushesOf(20, () => 'a'),
    );
    const again = recordAll(
      detector,
      pushesOf(20, () => 'a', START + 61_000),
    );
    expect(again.filter(Boolean)).toHaveLength(1);
  });
});

interface Push {
  readonly client: string;
  readonly at: number;
  /** Default: the client is alone there. */
  readonly prefix?: string;
}

/** The pushes at which the operator is told, as `pushes/addresses`. */
function told(pushes: readonly Push[]): string[] {
  const detector = new BurstDetector(PUSH_BURST);
  let last: ToldBurst | null = null;
  return pushes.flatMap(({ client, at, prefix = client }) => {
    const hasBegun = detector.record({ address: client, prefix }, START + at);
    if (!detector.isOn) return [];
    const next = detector.toTell(last, hasBegun, START + at);
    if (next === null) return [];
    last = next;
    return [`${next.events}/${next.addresses}`];
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
        prefix: 'tunnel',
      }));
    const rounds = Array.from({ length: 9 }, (_, round) => tunnel(round)).flat();
    expect(told(rounds)).toEqual(['10/10']);
    const crowd = evenly(10, 1000, (index) => `${index}`, 1000);
    expect(told([...tunnel(0), ...crowd])).toEqual(['10/10', '20/20']);
  });
});
