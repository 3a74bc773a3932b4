/**
 * Judges pushes in this process, without a service: the same code as after a push was received,
 * which asks a local repository in place of a code host.
 */
import { ByteReader, sourceOf } from '../../src/git/wire/byte-reader.ts';
import { Conventions } from '../../src/git/search/conventions.ts';
import { UNCOUNTED } from '../../src/git/memory.ts';
import type { ObjectType, Oid } from '../../src/git/objects/oid.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import type { ObjectRequest } from '../../src/git/wire/protocol-v2.ts';
import { type FilesHost, readCommunityFiles } from '../../src/policy/community-files.ts';
import { OPEN_POLICY, type Policy, withCommunity } from '../../src/policy/policy.ts';
import { judge } from '../../src/push/judge/judge.ts';
import type { Circumstances } from '../../src/push/judge/destination.ts';
import { type GitQuestions, type Place, PlaceQuestions } from '../../src/push/judge/questions.ts';
import type { PushRun } from '../../src/push/push-run.ts';
import { parsePushOptions } from '../../src/push/receive/push-options.ts';
import { type Received, readPushedPack } from '../../src/push/receive/receive.ts';
import { toRefusal } from '../../src/push/reply/refusal.ts';
import type { PushSpool } from '../../src/spool/spool.ts';
import type { Finding } from '../../src/words/finding.ts';
import { runGit } from '../../sandbox/git-command.ts';
import { git } from './git.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const BOT = 'bot';
const ADDRESS = 'https://service.example/v1/gh/octo/hello';
const SETTINGS = {
  maxRepositoryMb: 500,
  anonEmail: 'bot@service.example',
  identityCheck: 'refuse',
  pushSecrets: 'proven',
  pushDoubles: 'tell',
  prUpdatePolicy: 'hash',
  signingKey: null,
  pullRequestFooter: '',
  client: 'git',
  hostUrl: 'https://github.com',
  remoteUrl: () => ADDRESS,
  publishedUrl: () => ADDRESS,
  fileUrl: () => ADDRESS,
  issueFormUrl: () => ADDRESS,
};
/** Days of upstream's history that are listed at first (src/upstream/history-lister.ts). */
const LISTED_SECONDS = 90 * 24 * 60 * 60;

const nothingAdvertised = async () => new Map<Oid, string>();

export interface HistoryCommit {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  readonly author: string;
  /** Seconds since 1970. */
  readonly committedAt: number;
}

/** Upstream as a bare repository on this machine. */
export class LocalUpstream {
  readonly #path: string;
  /** All commits, the newest first, by their ids. */
  readonly commits: ReadonlyMap<Oid, HistoryCommit>;
  readonly #ids: Set<Oid>;
  readonly #objects = new Map<Oid, KeptObject>();
  readonly #conventions = new Map<Oid, ReadonlySet<string>>();
  #policy: Policy = OPEN_POLICY;

  private constructor(path: string, commits: readonly HistoryCommit[]) {
    this.#path = path;
    this.commits = new Map(commits.map((commit) => [commit.oid, commit]));
    this.#ids = new Set(this.commits.keys());
  }

  /**
   * @param path the folder of a repository, with or without a work tree.
   * @param ids further ids that are upstream's.
   */
  static async open(path: string, ids: Iterable<Oid> = []): Promise<LocalUpstream> {
    const folder = (await git(path, ['rev-parse', '--absolute-git-dir'])).trim();
    const log = await git(path, ['log', '--format=%H%x09%P%x09%ae%x09%ct']);
    const commits = log.split('\n').flatMap((line): HistoryCommit[] => {
      const [oid = '', parents = '', author = '', date = ''] = line.split('\t');
      if (oid === '') return [];
      return [{ oid, parents: parents.split(' ').filter(Boolean), author, committedAt: Number(date) }];
    });
    const upstream = new LocalUpstream(folder, commits);
    for (const oid of ids) upstream.#ids.add(oid);
    await upstream.#load(upstream.commits.keys());
    const community = await readCommunityFiles(upstream.#files, 'github', async () => BOT);
    upstream.#policy = withCommunity(OPEN_POLICY, community);
    return upstream;
  }

  /** The files of the newest commit. */
  get #files(): FilesHost {
    const list = async (folder: string) => {
      const place = folder === '' ? 'HEAD' : `HEAD:${folder}`;
      const { stdout } = await runGit(this.#path, ['ls-tree', place]);
      const found = stdout.toString().matchAll(/^\d+ (\w+) ([0-9a-f]{40})\t(.*)$/gm);
      return new Map(
        Array.from(found, ([, type, oid = '', name]) => [`${name}${type === 'tree' ? '/' : ''}`, oid]),
      );
    };
    return {
      list,
      file: async () => ({ kind: 'unreadable' }),
      readAll: (wants) => this.#read({ wants, filesBelowBytes: Infinity }),
    };
  }

  /**
   * Judges a push of the commits from `base` to `tip`.
   * @param options its push options.
   */
  async judged(base: Oid, tip: Oid, ...options: readonly string[]): Promise<readonly Finding[]> {
    const received = await this.#received(base, tip, options);
    const main = { name: 'refs/heads/main', oid: base };
    const pushed = new Set(Array.from(received.pack.kept.objects(), ({ oid }) => oid));
    const isKnown = (oid: Oid): boolean => this.#ids.has(oid) && !pushed.has(oid);
    const history = {
      since: -Infinity,
      othersSince: -Infinity,
      conventions: this.#conventionsFrom(base),
      isListed: isKnown,
      isKnown,
      has: () => true,
      unknownOf: (ids: ReadonlySet<string>) => [...ids].filter((id) => !this.#knows(id)),
      branchesHolding: () => [],
      ownerOf: () => null,
      reachBack: async () => false,
      reachBackOnOthers: async () => false,
    };
    const questions = { history: () => history, isApart: async () => false } as unknown as GitQuestions;
    const from = { repository: REPOSITORY, refs: [main], hasAllBranches: true, hostAheadMs: 0 };
    const circumstances = {
      settings: SETTINGS,
      botLogin: BOT,
      listed: null,
      refusal: null,
      wasOpen: false,
      records: { recorded: async () => null, compare: async () => ({ found: null }) },
      memory: UNCOUNTED,
      now: 1_800_000_000,
    } as unknown as Circumstances;
    try {
      const upstream = { ...from, defaultBranch: main };
      return (await judge(received, upstream, this.#place(), circumstances, questions)).findings;
    } catch (error) {
      return toRefusal(error, 'git').all;
    }
  }

  #place(): Place {
    const transport = {
      hostName: 'github.com',
      readObjects: async (_: unknown, request: ObjectRequest) => this.#read(request),
    };
    const run = {
      host: {
        transport,
        lister: { newestIn: async (...[, , oids]: [unknown, unknown, readonly Oid[]]) => oids },
        memory: UNCOUNTED,
        clock: { now: () => Date.now(), sleep: () => new Promise(() => {}) },
      },
      steps: { run: async <T>(_: string, step: () => Promise<T>) => step() },
      logger: { warn: (...words: unknown[]) => console.error(...words) },
      settings: SETTINGS,
    } as unknown as PushRun;
    const ask = Object.assign(new PlaceQuestions(run, REPOSITORY, BOT), { advertised: nothingAdvertised });
    const repository = { id: 1, networkId: 1, ...REPOSITORY, sizeKb: 1, pullRequests: 'all' } as const;
    return { repository: { ...repository, isPrivate: false, isArchived: false }, policy: this.#policy, ask };
  }

  async #received(base: Oid, tip: Oid, given: readonly string[]): Promise<Received> {
    const args = ['pack-objects', '--quiet', '--revs', '--thin', '--delta-base-offset', '--stdout'];
    const { stdout: pack } = await runGit(this.#path, args, { input: `${tip}\n^${base}\n` });
    const command = { oldId: '0'.repeat(40), newId: tip, refName: 'refs/heads/topic' };
    const { options } = parsePushOptions(given);
    return {
      taken: { command, target: { kind: 'branch', branch: 'topic' } },
      commandList: [command],
      options,
      faults: [],
      pack: await readPushedPack(new ByteReader(sourceOf(pack)), memorySpool, UNCOUNTED),
    } as unknown as Received;
  }

  /** Answers what the messages of a listing from this commit on use with ids. */
  #conventionsFrom(base: Oid): ReadonlySet<string> {
    const known = this.#conventions.get(base);
    if (known !== undefined) return known;
    const conventions = new Conventions();
    const since = (this.commits.get(base)?.committedAt ?? 0) - LISTED_SECONDS;
    const met = new Set([base]);
    // The loop goes on to what it adds.
    for (const oid of met) {
      const { parents = [], committedAt = 0 } = this.commits.get(oid) ?? {};
      if (committedAt < since) continue;
      conventions.add(this.#objects.get(oid)?.content ?? new Uint8Array());
      for (const parent of parents) met.add(parent);
    }
    this.#conventions.set(base, conventions.all);
    return conventions.all;
  }

  #knows(abbreviation: string): boolean {
    for (const oid of this.#ids) if (oid.startsWith(abbreviation)) return true;
    return false;
  }

  /** Reads objects as a host sends them: a folder with its small files only if that is asked. */
  async #read({ wants, filesBelowBytes }: ObjectRequest): Promise<ReadonlyMap<Oid, KeptObject>> {
    let oids = wants;
    if (filesBelowBytes !== undefined) {
      const lists = await Promise.all(wants.map((oid) => runGit(this.#path, ['ls-tree', '-rt', oid])));
      const below = Buffer.concat(lists)
        .toString()
        .matchAll(/^\d+ (?:blob|tree) ([0-9a-f]{40})\t/gm);
      oids = [...wants, ...Array.from(below, ([, oid = '']) => oid)];
    }
    await this.#load(oids);
    const found = oids.flatMap((oid) => this.#objects.get(oid) ?? []);
    return new Map(found.map((object) => [object.oid, object]));
  }

  async #load(oids: Iterable<Oid>): Promise<void> {
    const missing = [...oids].filter((oid) => !this.#objects.has(oid));
    if (missing.length === 0) return;
    const { stdout: sent } = await runGit(this.#path, ['cat-file', '--batch'], {
      input: `${missing.join('\n')}\n`,
    });
    for (let at = 0; at < sent.length;) {
      const end = sent.indexOf(0x0a, at);
      const [oid = '', type = '', size = '0'] = sent.toString('latin1', at, end).split(' ');
      at = end + 1;
      if (type === 'missing') continue;
      const content = sent.subarray(at, at + Number(size));
      this.#objects.set(oid, { type: type as ObjectType, oid, content });
      at += content.length + 1;
    }
  }
}

function memorySpool(): PushSpool {
  const pieces: Uint8Array[] = [];
  const spool = {
    isInMemory: true,
    byteLength: 0,
    async spill() {},
    async write(parts: readonly Uint8Array[]) {
      for (const part of parts) pieces.push(part.slice());
      spool.byteLength = pieces.reduce((bytes, { byteLength }) => bytes + byteLength, 0);
    },
    async close() {},
    async discard() {},
    async *read(start = 0) {
      yield Buffer.concat(pieces).subarray(start);
    },
  };
  return spool as unknown as PushSpool;
}
