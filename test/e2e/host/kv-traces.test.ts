/**
 * Whoever can list KV learns neither which repository somebody has looked at, nor when: after a
 * look, a preview, a refused push, one that waits, and a pull request.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { filesIn, inDatabases, pathsIn } from '../support/state-files.ts';
import { TestBed, useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const DAY_S = 24 * 60 * 60;
const PATIENCE = { timeout: 40_000, interval: 250 };
const NAMESPACES = new Set(['HISTORY', 'LAST_KNOWN', 'DELAYED_KEYS']);

interface Row {
  readonly key: string;
  readonly blob_id: string;
  /** Milliseconds since 1970. */
  readonly expiration: number;
  readonly metadata: string | null;
}

type Entry = Omit<Row, 'blob_id'> & { readonly value: Buffer };

let stateDir: string;
/** Texts that must stand nowhere: names, ids in either form, addresses. */
const told: Buffer[] = [];
let entries: readonly Entry[] = [];

/** As the stand-in for KV keeps them on disk (miniflare's `_mf_entries`). */
function readEntries(): Entry[] {
  const kv = join(stateDir, 'kv');
  const values = new Map(filesIn(kv).map(({ path, bytes }) => [basename(path), bytes]));
  const rows = inDatabases(join(kv, 'miniflare-KVNamespaceObject'), (database) =>
    database.prepare('SELECT * FROM _mf_entries').all(),
  ).flat() as unknown as Row[];
  return rows.map(({ key, expiration, metadata, blob_id: blob }) => {
    return { key, expiration, metadata, value: values.get(blob) as Buffer };
  });
}

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'gitveil-kv-'));
  const bed = await TestBed.start({ stateDir });
  try {
    const { upstream, clone } = await contribute(bed);
    const tip = await upstream.tip();
    for (const text of [upstream.owner, upstream.name, tip, tip.slice(0, 12)]) told.push(Buffer.from(text));
    told.push(Buffer.from(tip, 'hex'), Buffer.from(new Date().toISOString().slice(0, 10)));
    for (const path of [`/v1/gh/${upstream.fullName}`, `/badge/${upstream.fullName}`, '/api/recent-prs']) {
      await (await fetch(bed.service.url + path)).text();
    }
    await (await fetch(`${bed.service.url}/badges/anonymous-friendly.svg?repo=${upstream.fullName}`)).text();
    await clone.commit();
    await clone.push('-o', 'preview', 'origin', 'HEAD:refs/heads/a');
    const refused = await clone.push('-o', 'base=nonsense', 'origin', 'HEAD:refs/heads/b');
    expect(refused.code).toBe(1);
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    await clone.commit();
    expect((await clone.push('-o', 'delay=1d', 'origin', 'HEAD:refs/heads/c')).code).toBe(0);
    // So that the statistics and the page have something to remember.
    await vi.waitFor(async () => {
      const recent = await fetch(`${bed.service.url}/api/recent-prs`);
      expect(await recent.text()).toContain(upstream.name);
    }, PATIENCE);
    await (await fetch(`${bed.service.url}/v1/gh/${upstream.fullName}`)).text();
    await vi.waitFor(() => expect(readEntries().length).toBeGreaterThan(4), PATIENCE);
    await bed.verify();
  } finally {
    await bed.stop();
  }
  entries = readEntries();
}, 120_000);

afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

describe('an entry of KV', exhaustive, () => {
  it('is there in each namespace', () => {
    expect(readdirSync(join(stateDir, 'kv')).filter((name) => NAMESPACES.has(name))).toHaveLength(3);
    expect(entries.length).toBeGreaterThan(4);
  });

  it('names no repository and no commit, in its key or its value', () => {
    for (const { key, value, metadata } of entries) {
      expect(metadata).toBeNull();
      expect(key).toMatch(/^[0-9a-f]+$/);
      for (const word of told) {
        expect([key, value.includes(word)]).toEqual([key, false]);
        expect(key).not.toContain(word.toString('hex'));
      }
    }
  });

  it('expires with a day, so that nobody can tell when it was written', () => {
    for (const { key, expiration } of entries) {
      expect([key, (expiration / 1000) % DAY_S]).toEqual([key, 0]);
    }
  });
});

describe('an entry of KV that has expired', exhaustive, () => {
  const bed = useOwnTestBed();

  it('leaves the disk with the next scheduled run, though nobody asks for it again', async () => {
    const kv = join(bed.stateDir, 'kv');
    const values = () => pathsIn(kv).filter((path) => path.includes('/blobs/'));
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    await clone.push('-o', 'preview', 'origin', 'HEAD:refs/heads/a');
    await (await fetch(`${bed.service.url}/v1/gh/${upstream.fullName}`)).text();
    await vi.waitFor(() => expect(values().length).toBeGreaterThan(1), PATIENCE);
    await bed.restart(() => {
      inDatabases(join(kv, 'miniflare-KVNamespaceObject'), (database) =>
        database.exec('UPDATE _mf_entries SET expiration = 1'),
      );
    });
    const expired = values();
    await bed.service.runScheduled();
    await vi.waitFor(() => expect(values().filter((path) => expired.includes(path))).toEqual([]), PATIENCE);
  });
});
