/** The rows of delayed pushes: each stage is read and written in the form of version 1.0.0. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { DelayedRows } from '../../../src/durable/delayed-pushes/delayed-rows.ts';
import type { StoredStage } from '../../../src/durable/delayed-pushes/delayed-rows.ts';
import type { Stage } from '../../../src/durable/delayed-pushes/stages.ts';
import type { Env } from '../../../src/env.ts';

const bindings = env as unknown as Env;
const intent = { prHash: 'aaaabbbbcccc', committedAt: 1_800_000_000 };
const published = { prHash: 'aaaabbbbcccc', url: 'https://host.test/octo/hello/pull/1', isKeyShown: true };
const lease = { token: 'abc', until: 1_800_000_300_000 };
const dueAt = 1_800_000_000_000;

/** As version 1.0.0 has written them. */
const FACTS = {
  name: 'a',
  host: 'gh',
  reason: 'delay',
  push: 'push a',
  client: 'somebody',
  spool: { attempt: 'attempt a', rowEnds: [1_000] },
  entryBytes: 500,
  commits: 1,
  keptAt: 1_799_000_000_000,
  from: 1_799_900_000_000,
  to: 1_800_100_000_000,
  until: 1_801_000_000_000,
  said: ['Not now.'],
  failures: 2,
  isApproved: false,
};
const WAITING = {
  state: 'waiting',
  dueAt,
  intent: null,
  isGivenUp: false,
  lease: null,
  leaseUntil: 0,
  published: null,
} as const;
const LEASED = { lease: lease.token, leaseUntil: lease.until };

it.each<readonly [Stage, Partial<StoredStage>]>([
  [{ kind: 'review' }, { dueAt: null }],
  [{ kind: 'due', dueAt }, {}],
  [{ kind: 'leased', dueAt, lease }, LEASED],
  [
    { kind: 'publishing', dueAt, lease, intent },
    { ...LEASED, intent },
  ],
  [{ kind: 'begun', dueAt, intent }, { intent }],
  [
    { kind: 'stopped', intent },
    { dueAt: null, intent },
  ],
  [
    { kind: 'unwanted', intent },
    { dueAt: null, intent, isGivenUp: true },
  ],
  [
    { kind: 'removing', lease, intent, isGivenUp: false },
    { ...LEASED, dueAt: null, intent },
  ],
  [
    { kind: 'removing', lease, intent, isGivenUp: true },
    { ...LEASED, dueAt: null, intent, isGivenUp: true },
  ],
  [
    { kind: 'published', as: published },
    { state: 'published', dueAt: null, published },
  ],
  [{ kind: 'failed' }, { state: 'failed', dueAt: null }],
  [{ kind: 'given-up' }, { state: 'given-up', dueAt: null }],
  [{ kind: 'discarded' }, { state: 'discarded', dueAt: null }],
])('$kind is what 1.0.0 has stored, and stored as that reads it', async (stage, differs) => {
  const value = { ...FACTS, ...WAITING, ...differs };
  const id = bindings.DELAYED_PUSHES.idFromName(`rows ${JSON.stringify(stage)}`);
  await runInDurableObject(bindings.DELAYED_PUSHES.get(id), (_, { storage: { sql } }) => {
    const rows = new DelayedRows(sql);
    sql.exec('INSERT INTO delayed_pushes (name, value) VALUES (?, ?)', 'a', JSON.stringify(value));
    const row = rows.get('a');
    expect(row).toEqual({ ...FACTS, stage });
    rows.put(row!);
    const [stored] = sql.exec<{ value: string }>('SELECT value FROM delayed_pushes').toArray();
    expect(JSON.parse(stored?.value ?? '')).toEqual(value);
  });
});
