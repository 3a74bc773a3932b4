/** By what a push is recognised that is made again: receivedHashOf. */
import { expect, it } from 'vitest';
import { UNCOUNTED } from '../../src/git/memory.ts';
import { ByteReader } from '../../src/git/wire/byte-reader.ts';
import { type PushRun, receivedHashOf } from '../../src/push/push-run.ts';
import { planCommands, readPushedPack } from '../../src/push/receive/receive.ts';
import { parsePushOptions } from '../../src/push/receive/push-options.ts';
import { PushSpool } from '../../src/spool/spool.ts';
import { PatientClock } from '../host/support/scripted-host.ts';
import { commitContent } from '../support/objects.ts';
import { buildPack, type Entry, makeDelta, oidOf } from '../support/pack-builder.ts';

const ONE = commitContent({ message: 'One\n' });
const TWO = commitContent({ message: 'Two\n' });
const OLD = Buffer.from('a line\n'.repeat(40));
const NEW = Buffer.from(`${'a line\n'.repeat(40)}one more\n`);
const TREE = Buffer.concat([Buffer.from('100644 a\0'), Buffer.alloc(20, 1)]);
const ENTRIES: readonly Entry[] = [
  { type: 'commit', content: ONE },
  { type: 'commit', content: TWO },
  { type: 'tree', content: TREE },
  { type: 'blob', content: NEW },
];
const TIP = 'b'.repeat(40);

interface Sent {
  readonly entries?: readonly Entry[];
  readonly options?: readonly string[];
  readonly refName?: string;
  readonly newId?: string;
  readonly oldId?: string;
  readonly target?: string;
}

const open = (): never => {
  throw new Error('no rows');
};

/** Hashes a push with these parts. */
async function sent({
  entries = ENTRIES,
  options = [],
  refName = 'refs/heads/topic',
  newId = TIP,
  oldId = '0'.repeat(40),
  target = 'octo/hello',
}: Sent = {}): Promise<string> {
  const clock = new PatientClock();
  const spool = () => new PushSpool({ open, memory: UNCOUNTED, client: null, mostBytes: 1e9, clock });
  const pieces = [buildPack(entries).bytes];
  const reader = new ByteReader({ read: async () => pieces.shift() ?? null, cancel: async () => {} });
  const pack = await readPushedPack(reader, spool, UNCOUNTED);
  const parsed = parsePushOptions(options);
  const commandList = [{ oldId, newId, refName }];
  const { taken } = planCommands(commandList);
  if (parsed.kind !== 'valid' || taken === null) throw new Error('the push is not valid');
  const run = {
    host: { nameOf: () => target },
    store: { hash: async (kind: string, text: string) => `${kind} ${text}` },
    target,
  } as unknown as PushRun;
  return receivedHashOf(run, { pack, options: parsed.options, faults: [], taken, commandList });
}

it.each<[string, Sent]>([
  ['in another order', { entries: ENTRIES.toReversed() }],
  [
    'with a delta in place of a file',
    {
      entries: [
        ...ENTRIES.slice(0, 3),
        { type: 'ref-delta', base: '1'.repeat(40), delta: makeDelta(OLD, NEW) },
      ],
    },
  ],
  ['at another time', { options: ['delay=6h'] }],
  ['as soon as there is room', { options: ['wait', 'delay=0s'] }],
  ['without a need to publish names', { options: ['publish-names'] }],
  ['after its branch was moved upstream', { oldId: 'c'.repeat(40) }],
])('is the same push %s', async (_, again) => {
  expect(await sent(again)).toBe(await sent());
});

it.each<[string, Sent]>([
  ['nothing but its id', { entries: [] }],
  ['one file less', { entries: ENTRIES.slice(0, -1) }],
  ['one file more', { entries: [...ENTRIES, { type: 'blob', content: OLD }] }],
  ['a smaller file', { entries: [...ENTRIES.slice(0, 3), { type: 'blob', content: OLD }] }],
  ['one commit less', { entries: ENTRIES.slice(1) }],
  [
    'another commit',
    { entries: [{ type: 'commit', content: commitContent({ message: 'Uno\n' }) }, ...ENTRIES.slice(1)] },
  ],
  ['another tip', { newId: 'c'.repeat(40) }],
  ['another branch', { refName: 'refs/heads/other' }],
  ['another repository', { target: 'octo/other' }],
  ...[
    'title=A',
    'description=A',
    'base=a',
    'squash',
    'draft',
    'sign-off',
    'ai=none',
    'issue=1',
    'pr-hash=0123456789ab',
  ].map((option): [string, Sent] => [`the option ${option}`, { options: [option] }]),
])('is another push with %s', async (_, other) => {
  expect(await sent(other)).not.toBe(await sent());
});

it('tells apart a title and a description', async () => {
  expect(await sent({ options: ['title=A'] })).not.toBe(await sent({ options: ['description=A'] }));
});

it('is hashed for this use alone, over a text that no version changes: pushes wait for days', async () => {
  const oids = [ONE, TWO].map((content) => oidOf('commit', content)).toSorted();
  const what = ['octo/hello', 'refs/heads/topic', TIP, null, null, false, false, false, false];
  const objects = [oids, 2, TREE.byteLength + NEW.byteLength];
  expect(await sent()).toBe(`received ${JSON.stringify([what, [null, null, null, null], objects])}`);
});
