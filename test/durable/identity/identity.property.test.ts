/**
 * The states of a pseudonym (contract, 3.1), by any sequence of events, against a model that is
 * nothing but the rules.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { restartObjects } from '../../support/all-objects.ts';
import { runs } from '../../support/runs.ts';
import type { Env } from '../../../src/env.ts';
import { FakeThreads } from '../support/fake-threads.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, holdClock, pass } from '../../support/clock.ts';
import { Pseudonym, THREAD } from '../support/pseudonym.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const RUNS = 12;
/** Some hundred events, most of which go through a database. */
const TIMEOUT_MS = 60_000;

/** The rules, without a host, a database or a thought for speed. */
interface Model {
  now: number;
  reports: { by: number; at: number }[];
  cooldownUntil: number;
  isBlocked: boolean;
  karma: number;
  /** The karma that each comment's footer shows, once all is done. */
  shown: number[];
}

interface Real {
  readonly someone: Pseudonym;
  readonly host: FakeThreads;
}

const standing = (model: Model) => model.reports.filter(({ at }) => model.now - at <= 30 * DAY_MS);
const isFlagged = (model: Model) => !model.isBlocked && standing(model).length >= 3;

async function agree(model: Model, { someone }: Real): Promise<void> {
  const state = model.isBlocked ? 'blocked' : isFlagged(model) ? 'flagged' : 'registered';
  expect((await someone.stub.publicRecord()).standing).toEqual({ reports: standing(model).length, state });
}

class Report implements fc.AsyncCommand<Model, Real> {
  readonly by: number;
  constructor(by: number) {
    this.by = by;
  }

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    const before = standing(model);
    const isFirst = !model.isBlocked && before.every(({ by }) => by !== this.by);
    if (isFirst) {
      const after = [...before, { by: this.by, at: model.now }];
      model.reports = after;
      if (after.length === 3) {
        model.cooldownUntil = model.now + 6 * HOUR_MS;
        model.karma = 0;
        model.shown = model.shown.map(() => 0);
      }
      if (after.length >= 6) {
        model.isBlocked = true;
        model.shown = [];
      }
    }
    await real.someone.report(`reporter ${this.by}`);
    await agree(model, real);
  }

  toString = () => `report by ${this.by}`;
}

/** So many report one after the other. */
class Crowd implements fc.AsyncCommand<Model, Real> {
  readonly size: number;
  constructor(size: number) {
    this.size = size;
  }

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    for (let by = 0; by < this.size; by++) await new Report(by).run(model, real);
  }

  toString = () => `reports by ${this.size}`;
}

class Comment implements fc.AsyncCommand<Model, Real> {
  // What is ordered for more than ten of them takes several alarms, with a pause between.
  check = ({ shown }: Readonly<Model>) => shown.length < 10;

  async run(model: Model, { someone }: Real): Promise<void> {
    const outcome = await someone.say();
    if (model.isBlocked) {
      expect(outcome).toEqual({ kind: 'blocked' });
    } else if (isFlagged(model) && model.now < model.cooldownUntil) {
      expect(outcome).toEqual({ kind: 'cooldown', leftMs: model.cooldownUntil - model.now });
    } else {
      model.karma = isFlagged(model) ? 0 : model.karma + 1;
      if (isFlagged(model)) model.cooldownUntil = model.now + 6 * HOUR_MS;
      model.shown.push(model.karma);
      expect(outcome).toMatchObject({ kind: 'posted', karma: model.karma });
    }
  }

  toString = () => 'comment';
}

class Pass implements fc.AsyncCommand<Model, Real> {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    pass(this.ms);
    model.now += this.ms;
    await agree(model, real);
  }

  toString = () => `${this.ms / MINUTE_MS} minutes pass`;
}

class Settle implements fc.AsyncCommand<Model, Real> {
  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    const { someone, host } = real;
    await someone.runDueAlarms();
    expect(host.textsOn(THREAD)).toEqual(model.shown.map((karma) => `Hello${someone.footer(karma)}`));
    await agree(model, real);
  }

  toString = () => 'alarms';
}

class Crash implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  run = () => restartObjects();
  toString = () => 'crash';
}

const times = [
  MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS - 1,
  6 * HOUR_MS,
  DAY_MS,
  15 * DAY_MS,
  30 * DAY_MS,
  30 * DAY_MS + 1,
];

const commands = fc.commands(
  [
    fc.integer({ min: 0, max: 7 }).map((by) => new Report(by)),
    fc.integer({ min: 2, max: 7 }).map((size) => new Crowd(size)),
    fc.constant(new Comment()),
    fc.constantFrom(...times).map((ms) => new Pass(ms)),
    fc.constant(new Settle()),
    fc.constant(new Crash()),
  ],
  { maxCommands: 30, size: 'max' },
);

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a pseudonym', () => {
  beforeEach(() => applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS));

  it(
    'is registered, flagged or blocked as the rules say, whatever happens',
    async () => {
      const property = fc.asyncProperty(commands, async (sequence) => {
        const host = new FakeThreads();
        holdClock();
        const model: Model = {
          now: Date.now(),
          reports: [],
          cooldownUntil: 0,
          isBlocked: false,
          karma: 0,
          shown: [],
        };
        const real = { someone: new Pseudonym(), host };
        await fc.asyncModelRun(() => ({ model, real }), [...sequence, new Settle()]);
        vi.useRealTimers();
      });
      await fc.assert(property, runs(RUNS));
    },
    TIMEOUT_MS,
  );
});
