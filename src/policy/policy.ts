/**
 * What a repository's maintainers say about anonymous contributions, in `.gitveil.yml` at its root.
 * `anonymous_friendly: true` turns the badge green; `accept` is `false`, `true`, or a list of what
 * is accepted; `pull_request_footer: true` makes pull requests say where they come from; `limit:
 * 5/1h` lowers how much is posted; `sign_off: required` takes only commits under the Developer
 * Certificate of Origin; `ai_disclosure: required` and `issue: required` ask what a pull request
 * has to say; `workflows: false` refuses changes of workflows. Without the file, everything is
 * accepted. With an invalid file, nothing is: its author may have wanted to refuse, and an unknown
 * key may be a misspelt `accept`. Pure: bytes in, plain data out.
 */
import { parseDocument } from 'yaml';
import * as z from 'zod';
import { rateLimits } from '../config/values.ts';
import type { Repository } from '../host/code-host.ts';
import { oneLine } from '../words/host-text.ts';
import type { Limit } from '../limits/sliding-window.ts';
import { type CommunityFiles, NO_FILES } from './community-files.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';

export const POLICY_PATH = '.gitveil.yml';

/** Whose pull requests a repository takes that does not take everybody's. */
type Closed = Exclude<Repository['pullRequests'], 'all'>;

const CONTRIBUTIONS = ['pull_requests', 'issues', 'comments'] as const;
export type Contribution = (typeof CONTRIBUTIONS)[number];

export interface Policy {
  /** What the badge shows. */
  readonly anonymousFriendly: boolean;
  readonly accepted: readonly Contribution[];
  /** Set if the host says that the repository does not take everybody's. */
  readonly pullRequests?: Closed;
  readonly pullRequestFooter: boolean;
  /** Whether every push has to affirm the Developer Certificate of Origin. */
  readonly requiresSignOff: boolean;
  /** Whether a pull request has to say if AI was used, and which open issue it is about. */
  readonly requiresAi: boolean;
  readonly requiresIssue: boolean;
  readonly refusesWorkflows: boolean;
  /** Besides the operator's, for what is opened here and for what is said on each thread. */
  readonly limits: readonly Limit[];
  /** Completes "the file …"; null if the file is valid or missing. */
  readonly problem: string | null;
  /** What other files of the repository say. */
  readonly community: CommunityFiles;
}

/** Of a repository without the file. */
export const OPEN_POLICY: Policy = {
  anonymousFriendly: false,
  accepted: CONTRIBUTIONS,
  pullRequestFooter: false,
  requiresSignOff: false,
  requiresAi: false,
  requiresIssue: false,
  refusesWorkflows: false,
  limits: [],
  problem: null,
  community: NO_FILES,
};

/** As the operator's variables have it. */
const LIMITS = rateLimits(24);

const MAX_POLICY_BYTES = 8 * 1024;

const ACCEPT_RULE = `must set accept to true, false or a list of ${CONTRIBUTIONS.join(', ')}`;

const switchOf = (name: string, usual: boolean) =>
  z.boolean({ error: `must set ${name} to true or false` }).default(usual);
/** A rule that can only be set. */
const required = (name: string) =>
  z.literal('required', { error: `must set ${name} to required, or leave it out` }).optional();

const policySchema = z.strictObject(
  {
    anonymous_friendly: switchOf('anonymous_friendly', false),
    accept: z
      .union([z.boolean(), z.array(z.enum(CONTRIBUTIONS))], { error: ACCEPT_RULE })
      .default(true)
      .transform((accept) => (accept === true ? CONTRIBUTIONS : accept || [])),
    pull_request_footer: switchOf('pull_request_footer', false),
    sign_off: required('sign_off'),
    ai_disclosure: required('ai_disclosure'),
    issue: required('issue'),
    workflows: switchOf('workflows', true),
    // It can only lower the operator's, so one that is not understood refuses nothing.
    limit: z.unknown().optional(),
  },
  {
    error:
      'may contain only the keys anonymous_friendly, accept, pull_request_footer, sign_off, ai_disclosure, issue, workflows and limit',
  },
);

/** @param file the file's bytes; null if it is not a file, or too large for the host to send. */
export function parsePolicy(file: Uint8Array | null): Policy {
  if (file === null || file.byteLength > MAX_POLICY_BYTES) return unusable('must be a file of at most 8 KB');
  let content: unknown;
  try {
    content = readYaml(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(file));
  } catch {
    return unusable('must be valid YAML without aliases');
  }
  // Null if the file contains nothing but comments.
  const parsed = policySchema.safeParse(content ?? {});
  if (!parsed.success) return unusable(parsed.error.issues[0]?.message ?? '');
  const { accept, limit, ...set } = parsed.data;
  return {
    ...OPEN_POLICY,
    anonymousFriendly: set.anonymous_friendly,
    accepted: CONTRIBUTIONS.filter((kind) => accept.includes(kind)),
    pullRequestFooter: set.pull_request_footer,
    requiresSignOff: set.sign_off === 'required',
    requiresAi: set.ai_disclosure === 'required',
    requiresIssue: set.issue === 'required',
    refusesWorkflows: !set.workflows,
    limits: (typeof limit === 'string' ? LIMITS.parse(limit) : undefined) ?? [],
  };
}

function unusable(problem: string): Policy {
  return { ...OPEN_POLICY, accepted: [], problem };
}

/** @throws Error */
export function readYaml(text: string): unknown {
  const document = parseDocument(text, { schema: 'core', stringKeys: true, logLevel: 'error' });
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) throw mistake;
  // An alias can make a small file a large object.
  return document.toJS({ maxAliasCount: 0 });
}

const inWords = (kind: Contribution): string => kind.replace('_', ' ');

/**
 * Why a contribution is not accepted; null if it is. A sentence, and on its own line what the
 * maintainers write.
 */
export function policyRefusal(policy: Policy, to: RepositoryName, kind: Contribution): string | null {
  const { accepted, problem, pullRequests, community } = policy;
  if (accepted.includes(kind)) return null;
  if (kind === 'pull_requests' && pullRequests !== undefined) return closedSentence(to, pullRequests);
  if (problem !== null)
    return `${fullName(to)} accepts nothing until its maintainers correct its ${POLICY_PATH}, which ${problem}.`;
  if (kind === 'pull_requests' && community.standing?.kind === 'denounced') {
    const { path, reason } = community.standing;
    const why = reason === null ? '' : `\nIts maintainers write: ${reason}`;
    return `${fullName(to)} takes no pull requests of the bot: its ${path} denounces it.${why}`;
  }
  const others = accepted.length === 0 ? '' : `, only ${accepted.map(inWords).join(' and ')}`;
  return `${fullName(to)} does not accept anonymous ${inWords(kind)}${others}: its ${POLICY_PATH} says so.`;
}

/** What the host says of a repository, whatever its file says. */
export function closedTo(policy: Policy, pullRequests: Repository['pullRequests']): Policy {
  return pullRequests === 'all' ? policy : { ...policy, accepted: withoutPulls(policy), pullRequests };
}

/**
 * With what other files say: a list that denounces the bot closes the repository to its pull
 * requests.
 */
export function withCommunity(policy: Policy, community: CommunityFiles): Policy {
  const isDenounced = community.standing?.kind === 'denounced';
  return { ...policy, community, accepted: isDenounced ? withoutPulls(policy) : policy.accepted };
}

function withoutPulls({ accepted }: Policy): Contribution[] {
  return accepted.filter((kind) => kind !== 'pull_requests');
}

/** What a list of vouched accounts means for a pull request that is to be opened; null: nothing. */
export function gateSentence(to: RepositoryName, { community }: Pick<Policy, 'community'>): string | null {
  const { kind, path = '', bot = '', reason = '' } = community.standing ?? {};
  if (kind === 'unreadable')
    return `The service cannot read ${path} of ${fullName(to)}: ${reason}. If it is a gate, the gate may close pull requests of the bot.`;
  if (kind !== 'unlisted') return null;
  return `${fullName(to)} has a list of vouched accounts, ${path}, without ${bot}: a gate may close pull requests of the bot. A maintainer vouches with a line "${bot}" in that file.`;
}

/** @param paths of workflows that are changed, at least one. */
export function workflowSentence(paths: readonly string[]): string {
  const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return `This changes workflows (${oneLine(paths[0] ?? '')}${more}). Maintainers check these with special care: leave them out if you do not need them.`;
}

function closedSentence(to: RepositoryName, pullRequests: Closed): string {
  return pullRequests === 'none'
    ? `${fullName(to)} takes no pull requests.`
    : `${fullName(to)} takes pull requests only from its collaborators.`;
}
