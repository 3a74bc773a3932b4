/** How many bodies of one client, or of all networks around it, may arrive at once. */
import { expect, it } from 'vitest';
import { OpenBodies } from '../../src/streams/open-bodies.ts';

const START = 1_800_000_000_000;
const request = () => new Request('https://gitveil.test');

it('as many as allowed; one that has ended makes room, and none counts twice', () => {
  const bodies = new OpenBodies();
  const begin = (one = request()) => bodies.begin(one, [{ key: 'a', most: 2 }], START);
  const first = request();
  expect([begin(first), begin(), begin()]).toEqual([true, true, false]);
  bodies.end(first);
  bodies.end(first);
  expect([begin(), begin()]).toEqual([true, false]);
  expect(bodies.begin(request(), [{ key: 'b', most: 2 }], START)).toBe(true);
});

it('of the networks around it some more, and one that is refused counts for nobody', () => {
  const bodies = new OpenBodies();
  const from = (key: string) =>
    bodies.begin(
      request(),
      [
        { key, most: 2 },
        { key: 'around', most: 3 },
      ],
      START,
    );
  expect([from('a'), from('a'), from('a')]).toEqual([true, true, false]);
  expect([from('b'), from('b')]).toEqual([true, false]);
});

it('one whose client has gone without a word counts for a minute, and a slow one as long as it comes', () => {
  const bodies = new OpenBodies();
  const begin = (one: Request, now: number) => bodies.begin(one, [{ key: 'a', most: 1 }], now);
  const slow = request();
  expect(begin(slow, START)).toBe(true);
  bodies.read(slow, START + 59_000);
  expect(begin(request(), START + 60_000)).toBe(false);
  expect(begin(request(), START + 119_000)).toBe(true);
  // It counts no more, whatever still comes.
  bodies.read(slow, START + 119_000);
  bodies.end(slow);
  expect(begin(request(), START + 119_000)).toBe(false);
  // Nor does one from the future, once a clock was set back.
  expect(begin(request(), START + 59_000)).toBe(true);
});
