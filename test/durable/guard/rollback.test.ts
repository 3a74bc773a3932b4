import { describe, expect, it } from 'vitest';
import { undoAll } from '../../../src/durable/guard/rollback.ts';
import { HostError } from '../../../src/words/host-error.ts';

const numbers = [...Array(20).keys()];
const at = (key: string, number: number) => ({
  host: key,
  owner: 'octo',
  repo: 'hello',
  number,
  url: `${number}`,
});
const all = numbers.map((number) => at('gh', number));
type One = (typeof all)[number];
const sorted = (some: readonly number[]) => some.toSorted((a, b) => a - b);
const numbersOf = (some: readonly One[]) => sorted(some.map(({ number }) => number));

/** Fails with what `fault` answers. */
function host(fault: (number: number) => HostError | null) {
  const [asked, undone]: [number[], number[]] = [[], []];
  const undo = async ({ number }: One) => {
    asked.push(number);
    await Promise.resolve();
    const error = fault(number);
    if (error !== null) throw error;
    undone.push(number);
  };
  return { asked, undone, undo };
}

describe('a rollback', () => {
  it('undoes each once', async () => {
    const { undo, undone } = host(() => null);
    expect(await undoAll(all, undo)).toEqual([]);
    expect(sorted(undone)).toEqual(numbers);
  });

  it('has at most four under way at once', async () => {
    let [now, most] = [0, 0];
    await undoAll(all, async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now -= 1;
    });
    expect(most).toBe(4);
  });

  it('goes on after one that fails', async () => {
    const { undo, undone } = host((number) => (number % 5 === 0 ? new HostError('missing', '') : null));
    expect(numbersOf(await undoAll(all, undo))).toEqual([0, 5, 10, 15]);
    expect(undone).toHaveLength(16);
  });

  it('leaves the host alone when it asks to slow down', async () => {
    const { undo, undone, asked } = host((number) =>
      number >= 6 ? new HostError('rate-limited', '') : null,
    );
    expect(numbersOf(await undoAll(all, undo))).toEqual(numbers.slice(6));
    expect(undone).toHaveLength(6);
    expect(asked.length).toBeLessThanOrEqual(10);
  });

  it('goes on when only the App has to wait, in one repository', async () => {
    const local = new HostError('rate-limited', '', undefined, { isLocal: true });
    const { undo } = host((number) => (number === 0 ? local : null));
    expect(numbersOf(await undoAll(all, undo))).toEqual([0]);
  });

  it('goes on at the other hosts then', async () => {
    const mixed = numbers.map((number) => at(number % 2 === 0 ? 'gh' : 'codeberg', number));
    const { undo, undone } = host((number) => (number % 2 === 0 ? new HostError('rate-limited', '') : null));
    expect(numbersOf(await undoAll(mixed, undo))).toEqual(numbers.filter((number) => number % 2 === 0));
    expect(undone).toHaveLength(10);
  });
});
