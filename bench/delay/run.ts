/**
 * `npm run bench:delay`: what a delay hides from an observer of both sides. Prints the tables of `docs/delay.md` and
 * draws its picture. No clock and no other randomness than seeds: it always prints the same.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments } from '../../local/arguments.ts';
import { randomFrom } from '../support/random.ts';
import {
  type Candidates,
  crowdFor,
  quantile,
  requestsOfUpload,
  uploadsOfRequest,
  type Window,
  windowOf,
} from './anonymity.ts';
import {
  alonePosterior,
  exponential,
  exponentialPosterior,
  middleHalf,
  type Posterior,
  traffic,
  uniformPosterior,
} from './matching.ts';
import { picture } from './picture.ts';
import { crowdDay, zoneGuess } from './rhythm.ts';

readArguments('Usage: npm run bench:delay\n\nPrints the tables of docs/delay.md and draws its picture.', {});

const DELAYS = [
  { name: 'none', minutes: 0 },
  { name: '10m', minutes: 10 },
  { name: '1h', minutes: 60 },
  { name: '6h', minutes: 360 },
  { name: '1d', minutes: 1440 },
  { name: '3d', minutes: 4320 },
];
const PER_DAY = [1, 5, 20, 100, 500, 2000];
const AIM = 10;
/** The longest wait that the service allows: a guess by chance is one among the uploads of this time. */
const LONGEST_DAYS = 14;
const ROUNDS = 20_000;
const SWEEPS = 3000;
const PICTURE = join(import.meta.dirname, '../../docs/images/delay.svg');

const day = crowdDay();

type Line = readonly [name: string, cells: readonly string[]];

function line([name, cells]: Line): string {
  return `| ${name} | ${cells.join(' | ')} |`;
}

function print(title: string, head: Line, rows: readonly Line[]): void {
  const rule: Line = ['---', head[1].map(() => '---')];
  console.log(`\n${title}\n\n${[head, rule].concat(rows).map(line).join('\n')}`);
}

function percent(part: number): string {
  return part >= 0.01 ? `${(100 * part).toFixed(0)} %` : `${(100 * part).toPrecision(1)} %`;
}

function sizes(law: Candidates): string {
  return `${quantile(law, 0.5).toLocaleString('en')} (${quantile(law, 0.1).toLocaleString('en')})`;
}

function perDelay(cell: (window: Window) => string): string[] {
  return DELAYS.map(({ minutes }) => cell(windowOf(minutes)));
}

function perCrowd(cells: (perDay: number) => string[]): Line[] {
  return PER_DAY.map((perDay) => [perDay.toLocaleString('en'), cells(perDay)]);
}

const names = DELAYS.map(({ name }) => name);
print(
  'Uploads for a pull request: median effective size (10th percentile)',
  ['pushes a day', names],
  perCrowd((perDay) => perDelay((window) => sizes(uploadsOfRequest(day, window, perDay)))),
);
print(
  'Pull requests for an upload: median effective size (10th percentile)',
  ['pushes a day', names],
  perCrowd((perDay) => perDelay((window) => sizes(requestsOfUpload(day, window, perDay)))),
);
print(
  `Best guess right (blind: one of the uploads of ${LONGEST_DAYS} days)`,
  ['pushes a day', names.concat('blind')],
  perCrowd((perDay) =>
    perDelay((window) => percent(uploadsOfRequest(day, window, perDay).guess)).concat(
      percent(1 / (LONGEST_DAYS * perDay)),
    ),
  ),
);
const crowds = (part: number): string[] =>
  perDelay((window) => crowdFor(day, window, AIM, part).toLocaleString('en'));
print(
  `Pushes a day for an effective size of ${AIM}`,
  ['', names],
  [
    ['for half of the pull requests', crowds(0.5)],
    ['for nine of ten', crowds(0.1)],
  ],
);
const zones = (times: number): string[] =>
  perDelay((window) => percent(zoneGuess(window, times, ROUNDS, randomFrom(times))));
print(
  `Time zone guessed right (chance: ${percent(1 / 24)})`,
  ['', names],
  [
    ['from one time', zones(1)],
    ['from ten times', zones(10)],
  ],
);
print(
  'All uploads and pull requests looked at together: median effective size, best guess right',
  [
    'uploads in one delay',
    ['uniform, one alone', 'uniform, together', 'exponential of the same mean, together'],
  ],
  [2, 5, 10, 30].map((length) => [String(length), together(length)]),
);

/** Uniform from `length` to twice as much beside an exponential of the mean 1.5 `length`, with one upload a unit of time. */
function together(length: number): string[] {
  const count = Math.max(1000, 60 * length);
  const random = randomFrom(length);
  const window = { from: length, to: 2 * length };
  const uniform = traffic(count, () => length * (1 + random()), random);
  const free = traffic(count, () => exponential(1.5 * length, random), random);
  const sampled = (): Posterior => uniformPosterior(uniform, window, SWEEPS, random);
  return [
    middleHalf(alonePosterior(uniform, window)),
    middleHalf(sampled(), sampled()),
    middleHalf(exponentialPosterior(free)),
  ].map(({ size, guess }) => `${size.toFixed(1)}, ${percent(guess)}`);
}

const lines = DELAYS.map(({ name, minutes }) => ({
  name: name === 'none' ? 'no delay' : name,
  points: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].map((perDay) => ({
    x: perDay,
    y: quantile(uploadsOfRequest(day, windowOf(minutes), perDay), 0.5),
  })),
}));
writeFileSync(PICTURE, picture(lines, AIM));
