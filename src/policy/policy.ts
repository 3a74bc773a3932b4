/**
 * Reads `.gitveil.yml`, in which maintainers say how they take anonymous contributions; its keys
 * are described in docs/maintainers.md. Without the file, everything is accepted. With an invalid
 * file, nothing is: its author may have wanted to refuse, and an unknown key may be a misspelt
 * `accept`. Pure: bytes in, plain data out.
 */
import { Lexer, parseDocument } from 'yaml';
import * as z from 'zod';
import { rateLimits } from '../config/values.ts';
import type { SaidWords } from '../events/hear.ts';
import type { Repository } from '../host/code-host.ts';
import { isPlainName, oneLine } from '../words/host-text.ts';
import { nearName } from '../words/near-name.ts';
import type { Limit } from '../limits/sliding-window.ts';
import { type CommunityFiles, NO_FILES } from './community-files.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';

export const POLICY_PATH = '.gitveil.yml';

/** How a repository is closed to pull requests: it takes those of collaborators, or none. */
type Closed = Exclude<Repository['pullRequests'], 'all'>;

const CONTRIBUTIONS = ['pull_requests', 'issues', 'comments'] as const;
export type Contribution = (typeof CONTRIBUTIONS)[number];

export interface Policy {
  /** Whether the badge says `verified`. */
  readonly anonymousFriendly: boolean;
  readonly accepted: readonly Contribution[];
  /** Set if the host says that the repository does not take everybody's pull requests. */
  readonly pullRequests?: Closed;
  readonly pullRequestFooter: boolean;
  /** Whether every push has to affirm the Developer Certificate of Origin. */
  readonly requiresSignOff: boolean;
  /** Whether a pull request has to say if AI was used. */
  readonly requiresAi: boolean;
  /** Whether a pull request has to name an open issue that it is about. */
  readonly requiresIssue: boolean;
  readonly refusesWorkflows: boolean;
  /** Limits besides the operator's: on what is opened here, and on comments of each thread. */
  readonly limits: readonly Limit[];
  /** The other repository that has the file, which counts for all of its owner's. */
  readonly owners?: string;
  /** Words that complete "the file …"; null if the file is valid or missing. */
  readonly problem: string | null;
  readonly community: CommunityFiles;
  /** When its maintainers have said stop. Milliseconds since 1970. */
  readonly stoppedAt?: number;
  /** The threads that its maintainers have muted, and since when. */
  readonly muted?: SaidWords['muted'];
}

/** The policy of a repository without the file. */
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

/** Reads limits in the form that the operator's variables have, too. */
const LIMITS = rateLimits(24);

const MAX_POLICY_BYTES = 8 * 1024;

const ACCEPT_RULE = `must set accept to true, false or a list of ${CONTRIBUTIONS.join(', ')}`;

const switchOf = (name: string, usual: boolean) =>
  z.boolean({ error: `must set ${name} to true or false` }).default(usual);
/** Makes the schema of a rule that can be set, but not switched off. */
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
    // A limit can only lower the operator's, so one that is not understood is ignored.
    limit: z.unknown().optional(),
  },
  { error: ({ code, keys }) => wrongKeys(code === 'unrecognized_keys' ? keys : []) },
);

/** Words for a file that has such keys, or is no mapping. */
function wrongKeys([first]: readonly string[]): string {
  const known = Object.keys(policySchema.shape);
  const all = `${known.slice(0, -1).join(', ')} and ${known.at(-1)}`;
  if (first === undefined) return `may contain only the keys ${all}`;
  const meant = nearName(first, known);
  const hint = meant === undefined ? `it may contain only ${all}` : `did you mean ${meant}?`;
  return isPlainName(first) ? `has the unknown key "${first}" (${hint})` : `has an unknown key (${hint})`;
}

/** @param file its bytes; null if it is no file, or too large for the host to send. */
export function parsePolicy(file: Uint8Array | null): Policy {
  if (file === null || file.byteLength > MAX_POLICY_BYTES) return unusable('must be a file of at most 8 KB');
  let content: unknown;
  try {
    content = readYaml(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(file));
  } catch {
    return unusable('must be valid YAML without aliases');
  }
  // A file with nothing but comments gives null.
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

/**
 * Words and signs of YAML. Each costs some 20 microseconds, and 8 KB can hold 12,000; a file with
 * every key, and a comment to each, has 200.
 */
const MAX_YAML_TOKENS = 1_500;

/**
 * Reads YAML without aliases.
 * @param mayGoOn is asked for each word or sign.
 * @throws Error
 */
export function readYaml(text: string, mayGoOn = atMost(MAX_YAML_TOKENS)): unknown {
  for (const token of new Lexer().lex(text)) {
    if (token !== '' && !mayGoOn()) throw new Error('the file has too many words and signs');
  }
  const document = parseDocument(text, { schema: 'core', stringKeys: true, logLevel: 'error' });
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) throw mistake;
  // Aliases could make a large object of a small file.
  return document.toJS({ maxAliasCount: 0 });
}

function atMost(count: number): () => boolean {
  let left = count;
  return () => left-- > 0;
}

const inWords = (kind: Contribution): string => kind.replace('_', ' ');

/**
 * Says in a sentence why a contribution is not accepted, and on a second line what the maintainers
 * write where they denounce the bot; null if it is accepted.
 */
export function policyRefusal(policy: Policy, to: RepositoryName, kind: Contribution): string | null {
  const { accepted, problem, pullRequests, community, stoppedAt } = policy;
  if (accepted.includes(kind)) return null;
  if (stoppedAt !== undefined) return stopSentence(to, stoppedAt);
  if (kind === 'pull_requests' && pullRequests !== undefined) return closedSentence(to, pullRequests);
  if (problem !== null)
    return `${fullName(to)} accepts nothing until its maintainers correct ${policyFile(policy)}, which ${problem}.`;
  const { path = '', reason = null } = community.standing ?? {};
  if (isDenounced(community, kind)) {
    const why = reason === null ? '' : `\nIts maintainers write: "${reason}"`;
    return `${fullName(to)} takes no ${inWords(kind)} of the bot: its ${path} denounces it.${why}`;
  }
  const others = accepted.length === 0 ? '' : `, only ${accepted.map(inWords).join(' and ')}`;
  return `${fullName(to)} does not accept anonymous ${inWords(kind)}${others}: ${policyFile(policy)} says so.`;
}

/** Names the file of a policy in a sentence about the repository. */
export function policyFile({ owners }: Pick<Policy, 'owners'>): string {
  return owners === undefined ? `its ${POLICY_PATH}` : `the ${POLICY_PATH} of ${owners}`;
}

/** Says that the file accepts nothing at all. */
export function nothingAccepted(to: RepositoryName, policy: Pick<Policy, 'owners'>): string {
  return `${fullName(to)} accepts nothing from this service: ${policyFile(policy)} says so.`;
}

const OWN_ACCOUNT = 'You can still contribute with an account of your own.';
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** @param at when stop was said, in milliseconds since 1970. */
export function stopSentence(to: RepositoryName, at: number): string {
  return `${fullName(to)} accepts nothing from this service. Its maintainers have said stop on ${dayOf(at)}.\n${OWN_ACCOUNT}`;
}

/** Says why nothing is sent to a thread, like `policyRefusal`; null: it is not muted. */
export function muteRefusal(policy: Policy, to: RepositoryName, thread: number): string | null {
  const { at } = policy.muted?.find((one) => one.thread === thread) ?? {};
  if (at === undefined) return null;
  return `${fullName(to)}#${thread} accepts nothing more from this service. Its maintainers have said mute on ${dayOf(at)}.\n${OWN_ACCOUNT}`;
}

/** Applies what maintainers have said in comments. The stricter of word and file counts. */
export function withWords(policy: Policy, { stoppedAt, muted }: SaidWords): Policy {
  if (stoppedAt !== null) return { ...policy, stoppedAt, accepted: [] };
  return muted.length === 0 ? policy : { ...policy, muted };
}

/** Applies what the host says of a repository, which counts more than its file. */
export function closedTo(policy: Policy, pullRequests: Repository['pullRequests']): Policy {
  return pullRequests === 'all' ? policy : { ...policy, accepted: withoutPulls(policy), pullRequests };
}

/** Adds what other files say: a list that denounces the bot closes what its gate would close. */
export function withCommunity(policy: Policy, community: CommunityFiles): Policy {
  const accepted = policy.accepted.filter((kind) => !isDenounced(community, kind));
  return { ...policy, community, accepted };
}

/** Tells if the list denounces the bot, and closes this. Only a known action closes issues. */
function isDenounced({ standing, gates }: CommunityFiles, kind: Contribution): boolean {
  if (standing?.kind !== 'denounced') return false;
  return (
    kind === 'pull_requests' || gates.some((gate) => gate.asks === 'vouch' && gate.of === kind && gate.closes)
  );
}

function withoutPulls({ accepted }: Policy): Contribution[] {
  return accepted.filter((kind) => kind !== 'pull_requests');
}

/**
 * Says what a list of vouched accounts does to what the bot opens.
 * @returns null if it takes it. `isSure`: a workflow closes it.
 */
export function vouchGate(
  to: RepositoryName,
  { community: { standing, gates } }: Pick<Policy, 'community'>,
  of: 'pull_requests' | 'issues',
): { readonly sentence: string; readonly isSure: boolean } | null {
  const { kind, path = '', bot = '', reason = '' } = standing ?? {};
  const known = gates.filter((gate) => gate.asks === 'vouch').filter((gate) => gate.of === of);
  const gate = known.find(({ takesUnlisted }) => !takesUnlisted);
  if (gate === undefined && (of === 'issues' || known.length > 0)) return null;
  const what = inWords(of);
  if (kind === 'unreadable') {
    const why = `The service cannot read ${path} of ${fullName(to)}: ${reason}.`;
    return { sentence: `${why} If it is a gate, the gate may close ${what} of the bot.`, isSure: false };
  }
  if (kind !== 'unlisted') return null;
  const how = 'A maintainer vouches with a line';
  if (gate === undefined) {
    const list = `${fullName(to)} has a list of vouched accounts, ${path}, without ${bot}`;
    return {
      sentence: `${list}: a gate may close ${what} of the bot. ${how} "${bot}" in that file.`,
      isSure: false,
    };
  }
  const does = `${gate.closes ? 'closes' : 'checks'} ${what} of accounts that are not vouched for`;
  const sentence = `The ${gate.path} of ${fullName(to)} ${does}, and ${bot} is not in ${path}. ${how} "${bot}" there.`;
  return { sentence, isSure: gate.closes };
}

/** The sentence of `vouchGate` for pull requests. */
export function gateSentence(to: RepositoryName, policy: Pick<Policy, 'community'>): string | null {
  return vouchGate(to, policy, 'pull_requests')?.sentence ?? null;
}

/** @param paths those of changed workflows, at least one. */
export function workflowSentence(paths: readonly string[]): string {
  const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return `This changes workflows (${oneLine(paths[0] ?? '')}${more}). Maintainers check these with special care: leave them out if you do not need them.`;
}

function closedSentence(to: RepositoryName, pullRequests: Closed): string {
  return pullRequests === 'none'
    ? `${fullName(to)} takes no pull requests.`
    : `${fullName(to)} takes pull requests only from its collaborators.`;
}
