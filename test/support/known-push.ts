/** A push as the rules of judging see it: its destination and commits are known. */
import { UNCOUNTED } from '../../src/git/memory.ts';
import type { Known } from '../../src/push/judge/known.ts';
import type { PushOptions } from '../../src/push/receive/push-options.ts';
import type { Finding } from '../../src/words/finding.ts';
import { commitContent, EMPTY_TREE } from './objects.ts';
import { newCommitOf } from './new-commits.ts';
import { buildPack, type Entry } from './pack-builder.ts';
import { planned } from './planned.ts';
import { receive } from './rewrite.ts';

interface Facts {
  /** The last one is the newest. */
  readonly commits?: readonly Parameters<typeof commitContent>[0][];
  readonly files?: readonly Entry[];
  readonly options?: Partial<PushOptions>;
  readonly pushed?: Partial<Known['pushed']>;
  readonly destination?: Partial<Known['destination']>;
}

const REPOSITORY = { owner: 'octo', name: 'hello' };

export function knownPush({ commits = [{}], files = [], options, pushed, destination }: Facts = {}): Known {
  const contents = commits.map((fields) => commitContent({ tree: EMPTY_TREE, ...fields }));
  const entries = contents.map((content): Entry => ({ type: 'commit', content }));
  const { scanner, passed } = receive([buildPack([...entries, ...files]).bytes]);
  const spooled = Buffer.concat(passed);
  const newCommits = contents.map(newCommitOf);
  const plan = planned(newCommits);
  return {
    received: {
      options: { squash: false, title: null, description: null, prKey: null, ...options },
      pack: {
        kept: scanner.kept,
        largestBytes: scanner.largestBytes,
        spool: {
          byteLength: spooled.length,
          isInMemory: true,
          async *read(start = 0) {
            yield spooled.subarray(start);
          },
        },
      },
    },
    circumstances: {
      memory: UNCOUNTED,
      settings: {
        hostUrl: 'https://git.test',
        fileUrl: (_: unknown, path: string) => `https://git.test/octo/hello/blob/HEAD/${path}`,
      },
    },
    bot: { name: 'bot', email: 'bot@x.example' },
    place: null,
    destination: {
      open: null,
      named: null,
      updates: false,
      born: { repository: REPOSITORY },
      ...destination,
    },
    work: { commits: newCommits, boundary: new Set() },
    plan,
    searched: { refusal: null, findings: [], hasGitlinks: false, hasWorkflows: false },
    pushed: {
      commits: plan.commits,
      title: null,
      description: null,
      isDraft: false,
      isSignedOff: false,
      stripsTrails: false,
      stated: { ai: null, issue: null },
      entryCount: 0,
      ...pushed,
    },
    boundaryTree: Promise.resolve(null),
  } as unknown as Known;
}

/** `refuse fsck`, `warn people` and the like. */
export function codesOf(findings: readonly Finding[]): string[] {
  return findings.map(({ severity, code }) => `${severity} ${code}`);
}
