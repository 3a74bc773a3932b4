/** Whoever has the disk of one machine learns from its files neither who came nor when. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Person } from '../support/person.ts';
import { pathsIn } from '../support/state-files.ts';
import { TestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import { readReport } from '../../support/pkt-line.ts';

const NETWORKS = 100;
const PERSONS = 4;
const PUSHES_EACH = 4;
const PUSHES = PERSONS * PUSHES_EACH;
/** Each push leaves one, its pull request's. A file for each network would be more. */
const MOST_FILES = 60;

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/**
 * The files of a service that some have visited, and others have pushed to.
 * @param net their first two numbers.
 */
async function filesAfter(net: string, pushesEach: number): Promise<string[]> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-traces-'));
  folders.push(stateDir);
  const bed = await TestBed.start({ stateDir, env: { LIMIT_CREATIONS: '500/1m' } });
  try {
    const upstream = await bed.createUpstream();
    await visit(bed, `${upstream.url}/info/refs?service=git-upload-pack`, net);
    const clone = await bed.person().copy(upstream);
    const newId = await clone.commit();
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const persons = Array.from({ length: PERSONS }, () => bed.person());
    const push = async (person: Person): Promise<void> => {
      for (let index = 0; index < pushesEach; index++) {
        const ref = `refs/heads/fix-${person.word}-${index}`;
        const answer = await sendPush(upstream.url, person, pushBody({ commands: [{ newId, ref }], pack }));
        expect(readReport(answer.body).report).toEqual(['unpack ok', `ok ${ref}`]);
      }
    };
    await Promise.all(persons.map(push));
    await bed.verify();
  } finally {
    await bed.stop();
  }
  return pathsIn(stateDir);
}

/**
 * Each network once. The host's answer is the same for all: it gives to the others what it gave to
 * the first.
 */
async function visit(bed: TestBed, discovery: string, net: string): Promise<void> {
  const come = async (network: number) => {
    const address = `${net}.${network >> 8}.${network & 255}`;
    const answer = await fetch(discovery, { headers: { 'CF-Connecting-IP': address } });
    const body = await answer.text();
    expect(answer.status).toBe(200);
    return { body, type: answer.headers.get('Content-Type') as string };
  };
  const { body, type } = await come(0);
  bed.sandbox.faults.inject({
    path: /\/info\/refs$/,
    times: NETWORKS - 1,
    answer: { status: 200, headers: { 'content-type': type }, body },
  });
  for (let network = 1; network < NETWORKS; network++) await come(network);
}

/**
 * Without the journals of what was open at the end. The account's object is named by its host,
 * which has another port.
 */
const databases = (files: readonly string[]): string[] =>
  files
    .filter((file) => !/-(?:wal|shm)$/.test(file))
    .map((file) => file.replace(/(HostAccount\/)[0-9a-f]{64}/, '$1account'))
    .toSorted();

const isPublic = (file: string): boolean =>
  file.startsWith('do/gitveil-PullRequest/') || /^kv\/[^/]+\/blobs\//.test(file);

it('100 networks and 16 pushes leave few files, and others leave files of the same names', async () => {
  // One push of each person opens all that four would, but for the pull requests.
  const [first, second] = await Promise.all([filesAfter('192.0', PUSHES_EACH), filesAfter('203.0', 1)]);
  const others = databases(first).filter((file) => !isPublic(file));
  const pulls = databases(first).filter((file) => /PullRequest\/[0-9a-f]{64}\.sqlite$/.test(file));
  expect(pulls).toHaveLength(PUSHES);
  expect(databases(first).length).toBeLessThanOrEqual(MOST_FILES);
  expect(databases(second).filter((file) => !isPublic(file))).toEqual(others);
});
