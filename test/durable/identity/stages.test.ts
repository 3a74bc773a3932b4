/** A pseudonym moves as the table of its stages says, whatever happens in whatever order. */
import { array, assert, constant, integer, oneof, property, record } from 'fast-check';
import { expect, it } from 'vitest';
import {
  cooledDown,
  COOLDOWN_MS,
  type ModerationFacts,
  NO_FACTS,
  pardoned,
  postingDecision,
  REPORT_LIFE_MS,
  reported,
  stageOf,
} from '../../../src/durable/identity/moderation.ts';
import { MODERATION_STAGES, type ModerationEvent } from '../../../src/durable/identity/stages.ts';
import { checkMove } from '../../../src/durable/stages.ts';

const NOW = 1_800_000_000_000;

const short = integer({ min: -COOLDOWN_MS, max: 2 * COOLDOWN_MS });
const long = integer({ min: 0, max: REPORT_LIFE_MS / 2 });

const happening = oneof(
  { arbitrary: record({ event: constant('report'), by: integer({ min: 0, max: 9 }) }), weight: 9 },
  { arbitrary: record({ event: constant('post') }), weight: 3 },
  { arbitrary: record({ event: constant('pardon') }), weight: 1 },
  { arbitrary: record({ event: constant('wait'), ms: oneof(short, long) }), weight: 3 },
);

interface Happening {
  readonly event: ModerationEvent;
  readonly by?: number;
  readonly ms?: number;
}

function after(facts: ModerationFacts, { event, by }: Happening, now: number): ModerationFacts {
  if (event === 'report') return reported(facts, { reporter: `${by}`, prefix: `${by}` }, now).facts;
  if (event === 'pardon') return pardoned(facts, now);
  return event === 'post' && postingDecision(facts, now) === 'zero' ? cooledDown(facts, now) : facts;
}

it('moves as its table says, also while its clock is set back', () => {
  const seen = new Set<string>();
  assert(
    property(array(happening, { minLength: 8, maxLength: 30 }), (happenings) => {
      let [facts, now, wasSetBack] = [NO_FACTS, NOW, false];
      for (const each of happenings as readonly Happening[]) {
        const before = stageOf(facts, now);
        const posting = postingDecision(facts, now);
        if (each.event === 'wait') now += each.ms ?? 0;
        wasSetBack ||= (each.ms ?? 0) < 0;
        facts = after(facts, each, now);
        const stage = stageOf(facts, now);
        seen.add(stage);
        const isPost = each.event === 'post' && (posting === 'normal' || posting === 'zero');
        const isWait = each.event === 'wait' && !wasSetBack && stage !== before;
        if (isPost || isWait || each.event === 'pardon')
          checkMove(MODERATION_STAGES, before, each.event, stage);
        if (each.event === 'pardon') expect(stage).toBe('registered');
      }
    }),
    { numRuns: 300 },
  );
  expect([...seen].toSorted()).toEqual(Object.keys(MODERATION_STAGES.stages).toSorted());
});

const by = (reporter: string) => ({ reporter, prefix: reporter });

it('is registered once it is pardoned, also by a clock that was set back behind its reports', () => {
  let facts = NO_FACTS;
  for (const reporter of ['a', 'b', 'c']) ({ facts } = reported(facts, by(reporter), NOW));
  const lifted = pardoned(facts, NOW - COOLDOWN_MS);
  expect(stageOf(lifted, NOW - COOLDOWN_MS)).toBe('registered');
  expect(stageOf(lifted, NOW)).toBe('registered');
});
