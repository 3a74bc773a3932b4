/** A push that is searched for what its commits' headers name, without a host. */
import { UNCOUNTED, type Memory } from '../../src/git/memory.ts';
import { OwnIds } from '../../src/git/objects/own-ids.ts';
import { planCommits } from '../../src/git/objects/planned-commits.ts';
import { type NameSearch, searchNames } from '../../src/leaks/search-names.ts';
import { linesOf } from '../../src/words/finding.ts';
import { storedPack } from '../../src/push/receive/receive.ts';
import { commitContent, oidNumber } from './objects.ts';
import { newCommitOf } from './new-commits.ts';
import { buildPack, type Entry } from './pack-builder.ts';
import { receive } from './rewrite.ts';

const SILENT = {
  readBases: async () => [],
  readFiles: async () => new Map(),
  advertised: async () => null,
};

export interface SearchedPush {
  readonly authors: readonly string[];
  readonly files?: readonly Entry[];
  readonly message?: string | Uint8Array;
  readonly options?: Partial<NameSearch['options']> & Partial<Record<'title' | 'description', string>>;
  readonly identityCheck?: NameSearch['settings']['identityCheck'];
  readonly pushSecrets?: NameSearch['settings']['pushSecrets'];
  readonly memory?: Memory;
  readonly isInMemory?: boolean;
  readonly isQuiet?: boolean;
}

/**
 * Each author has a commit with the message; the last one is the newest. Answers the reason of a
 * refusal, and all lines.
 */
export async function search({
  authors,
  files = [],
  message = 'A change\n',
  memory = UNCOUNTED,
  ...more
}: SearchedPush) {
  const contents = authors.map((author, at) =>
    commitContent({ author: `${author} ${at} +0000`, committer: 'bot <bot@x.example> 1 +0000', message }),
  );
  const { bytes } = buildPack([...contents.map((content): Entry => ({ type: 'commit', content })), ...files]);
  const { scanner, passed } = receive([bytes]);
  const spooled = Buffer.concat(passed);
  const commits = contents.map(newCommitOf);
  const spool = {
    byteLength: spooled.length,
    isInMemory: more.isInMemory ?? true,
    read: async function* (start = 0) {
      yield spooled.subarray(start);
    },
  };
  const plan = await planCommits(commits, new OwnIds(commits.map(({ oid }) => oid)));
  const textOf = (text?: string) => (text === undefined ? null : plan.planText(Buffer.from(text)));
  const { refusal, findings } = await searchNames({
    settings: {
      identityCheck: more.identityCheck ?? 'refuse',
      pushSecrets: more.pushSecrets ?? 'proven',
    },
    options: { preview: false, publishNames: false, ...more.options },
    nobodys: ['bot', 'bot@x.example'],
    commits,
    plan,
    texts: { title: textOf(more.options?.title), description: textOf(more.options?.description) },
    published: new Set<string>(),
    originalIds: commits.map(({ oid }) => oid),
    kept: scanner.kept,
    pack: storedPack(spool, 32),
    canSignOff: () => false,
    rebase: 'git pull --rebase https://service.test/v1/gh/octo/hello main',
    judgeFolders: () => {},
    history: {
      isKnown: () => false,
      unknownOf: (ids: ReadonlySet<string>) => [...ids],
      since: -Infinity,
      reachBack: async () => false,
    },
    upstream: { refs: [], repository: { owner: 'octo', name: 'hello' }, urls: [] },
    memory,
    questions: more.isQuiet === true ? null : SILENT,
    boundary: oidNumber(8),
  });
  return { refusal: refusal?.reason ?? null, lines: [...(refusal?.lines ?? []), ...linesOf(findings)] };
}
