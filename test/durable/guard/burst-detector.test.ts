import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BurstDetector } from '../../../src/durable/guard/burst-detector.ts';
import { runs } from '../../support/runs.ts';

const START = 1_800_000_000_000;

/** The same by its definition, over everything that ever happened. */
class Model {
  readonly #pushes: { at: number; address: string }[] = [];
  #isOn = false;

  record(address: string, now: number) {
    const before = this.#figures(now);
    if (before.pushes <= 10 && before.addresses <= 5) this.#isOn = false;
    this.#pushes.push({ at: now, address });
    const figures = this.#figures(now);
    const fires = !this.#isOn && (figures.pushes >= 20 || figures.addresses >= 10);
    this.#isOn ||= fires;
    return fires ? figures : null;
  }

  #figures(now: number) {
    const recent = this.#pushes.filter(({ at }) => now - at < 60_000);
    return { pushes: recent.length, addresses: new Set(recent.map(({ address }) => address)).size };
  }
}

function recordAll(detector: BurstDetector, pushes: readonly { address: string; at: number }[]) {
  return pushes.map(({ address, at }) => detector.record({ address, site: address }, at));
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
        const [detector, model] = [new BurstDetector(), new Model()];
        let now = START;
        for (const { gap, address } of pushes) {
          now += gap;
          expect(detector.record({ address, site: address }, now)).toEqual(model.record(address, now));
        }
      }),
      runs(300),
    );
  });

  it('fires at the twentieth push within a minute', () => {
    const fired = recordAll(
      new BurstDetector(),
      pushesOf(25, (index) => `${index % 9}`),
    );
    expect(fired.findIndex(Boolean)).toBe(19);
    expect(fired.filter(Boolean)).toEqual([{ pushes: 20, addresses: 9 }]);
  });

  it('fires at the tenth address', () => {
    const fired = recordAll(
      new BurstDetector(),
      pushesOf(15, (index) => `${index}`),
    );
    expect(fired.filter(Boolean)).toEqual([{ pushes: 10, addresses: 10 }]);
  });

  it.each([
    [6, 0],
    [5, 1],
  ])('is armed again when addresses have fallen to half: with %i left it tells %i more', (left, alerts) => {
    const detector = new BurstDetector();
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
    const detector = new BurstDetector();
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
