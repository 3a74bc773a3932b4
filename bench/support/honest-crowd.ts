/**
 * People who clone, push and comment at their own pace, over HTTP as their clients do it: two
 * hundred programs would take the processor that the service needs.
 */
import { setTimeout } from 'node:timers/promises';
import { commitContent, treeContent } from '../../test/support/objects.ts';
import { buildPack, oidOf } from '../../test/support/pack-builder.ts';
import { pkt } from '../../test/support/pkt-line.ts';
import { pushBody, RECEIVE_PACK } from '../../test/e2e/support/wire.ts';
import { randomFrom } from './random.ts';
import type { Rig, Target } from './rig.ts';

/** From the end of one action to the beginning of the next. */
const LEAST_PAUSE_MS = 5_000;
const MOST_PAUSE_MS = 35_000;
const UPLOAD_PACK = 'application/x-git-upload-pack-request';
const V2 = { 'Git-Protocol': 'version=2' };
const DELIMITER = Buffer.from('0001');

export interface Crowd {
  readonly rig: Rig;
  readonly target: Target;
  /** The newest commit of upstream's main branch. */
  readonly tip: string;
  /** An issue there, for comments. */
  readonly issue: number;
}

/** How long each action took, in milliseconds, and how many were not answered as they should be. */
export interface Waits {
  readonly ms: number[];
  failed: number;
}

type Act = (crowd: Crowd, headers: Readonly<Record<string, string>>, person: number) => Promise<void>;

/** Half of them clone. */
const ACTS: readonly Act[] = [clone, push, clone, comment];

/** So many people for so long, each from a moment of its own on. What they have begun, they end. */
export async function honestPeople(crowd: Crowd, people: number, forMs: number): Promise<Waits> {
  const waits: Waits = { ms: [], failed: 0 };
  const random = randomFrom(people);
  const signal = AbortSignal.timeout(forMs);
  const pause = (ms: number): Promise<void> => setTimeout(ms, undefined, { signal }).catch(() => {});
  const live = async (person: number): Promise<void> => {
    await pause(random() * MOST_PAUSE_MS);
    for (let turn = person; !signal.aborted; turn++) {
      const began = performance.now();
      const headers = { 'CF-Connecting-IP': crowd.rig.newAddress() };
      await ACTS[turn % ACTS.length]!(crowd, headers, person).catch(() => (waits.failed += 1));
      waits.ms.push(performance.now() - began);
      await pause(LEAST_PAUSE_MS + random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS));
    }
  };
  await Promise.all(Array.from({ length: people }, (_, person) => live(person)));
  return waits;
}

async function clone({ target, tip }: Crowd, headers: Readonly<Record<string, string>>): Promise<void> {
  const asked = { ...headers, ...V2 };
  await read(`${target.service}/info/refs?service=git-upload-pack`, { headers: asked });
  const post = (...lines: Buffer[]) => {
    const body = Buffer.concat([...lines, pkt(null)]);
    const request = { method: 'POST', headers: { ...asked, 'Content-Type': UPLOAD_PACK }, body };
    return read(`${target.service}/git-upload-pack`, request);
  };
  await post(pkt('command=ls-refs\n'), DELIMITER, pkt('peel\n'), pkt('ref-prefix refs/heads/\n'));
  const pack = await post(pkt('command=fetch\n'), DELIMITER, pkt(`want ${tip}\n`), pkt('done\n'));
  if (!pack.includes('PACK')) throw new Error('a clone got no pack');
}

async function push({ target, tip }: Crowd, headers: Readonly<Record<string, string>>): Promise<void> {
  const content = Buffer.from(`${Math.random()}\n`);
  const tree = treeContent([{ name: 'change', oid: oidOf('blob', content) }]);
  const author = `Ada <ada@home.example> ${Math.floor(Date.now() / 1000)} +0000`;
  const message = `Change it by ${content.toString()}`;
  const commit = commitContent({
    tree: oidOf('tree', tree),
    parents: [tip],
    author,
    committer: author,
    message,
  });
  const { bytes: pack } = buildPack([
    { type: 'commit', content: commit },
    { type: 'tree', content: tree },
    { type: 'blob', content },
  ]);
  const commands = [{ newId: oidOf('commit', commit), ref: 'refs/heads/topic' }];
  await read(`${target.service}/info/refs?service=git-receive-pack`, { headers });
  const request = {
    method: 'POST',
    headers: { ...headers, 'Content-Type': RECEIVE_PACK },
    body: pushBody({ commands, options: [], pack }),
  };
  const answer = await read(`${target.service}/git-receive-pack`, request);
  if (!answer.includes('PR URL:')) throw new Error('a push was refused');
}

async function comment(
  { target, issue }: Crowd,
  headers: Readonly<Record<string, string>>,
  person: number,
): Promise<void> {
  await read(`${target.service}/issues/${issue}/comments/anonymous`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ body: `It works here, too (${Math.random()}).`, user_token: `PERSON-${person}` }),
  });
}

async function read(url: string, request: RequestInit): Promise<string> {
  const answer = await fetch(url, request);
  const body = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
  return body;
}
