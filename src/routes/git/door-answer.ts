/**
 * The answer of a push that came through a door: the lines that a push prints, or JSON.
 * Proved by test/routes/git/door-answer.test.ts and test/e2e/push/bundle.test.ts.
 */
import type { Context } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { KNOWN_OPTIONS } from '../../push/receive/push-options.ts';
import { PR_KEY } from '../../push/reply/commands.ts';
import { pushOutcome, type Refusal } from '../../push/reply/refusal.ts';
import type { Outcome } from '../../push/session.ts';
import type { Finding } from '../../words/finding.ts';
import { visible } from '../../words/host-text.ts';
import { sentence } from '../../words/sentence.ts';
import { preferredType } from '../pages/answer-page.ts';
import { CODES, ERROR_CODE, type ErrorStatus, NOT_KEPT, retryAfter } from '../request/refused.ts';

const finding = z.object({
  severity: z.enum(['refuse', 'warn', 'say']).meta({ description: 'Only `refuse` ends a push.' }),
  code: z.string().meta({ description: 'Names it for programs.', examples: ['sign-off'] }),
  lines: z.array(z.string()).meta({ description: 'Explanation and next step.' }),
  places: z.array(z.string()).meta({ description: 'Files and commits that it is about, where known.' }),
});

const shared = {
  lines: z.array(z.string()).meta({ description: 'All that a push prints.' }),
  findings: z.array(finding).meta({ description: 'What judging has found.' }),
};

export const pushedAnswer = z
  .object({
    state: z.enum(['opened', 'updated', 'delayed', 'withdrawn', 'previewed']),
    pr_url: z.url().nullable().meta({ description: 'The pull request. Null: none is open yet.' }),
    pr_hash: z.string().nullable().meta({ description: 'Names it in an update.' }),
    pr_key: z.string().nullable().meta({ description: 'Withdraws it, and is shown once. Keep it secret.' }),
    page: z.url().nullable().meta({ description: 'Its page; of a delayed push, a secret.' }),
    ...shared,
  })
  .meta({ description: 'The push was accepted.' });

export const refusedAnswer = z
  .object({
    error: z.string().meta({ description: 'Why, for a person.' }),
    state: z
      .enum(['refused', 'unconfirmed'])
      .meta({ description: 'Unconfirmed: it has warnings, which `yes` accepts.' }),
    ...shared,
  })
  .meta({ description: 'The push was refused.' });

export const formOf = (c: Context<AppEnv>): 'json' | 'text' =>
  preferredType(c, ['text/plain', 'application/json'], 'text/plain') === 'text/plain' ? 'text' : 'json';

/** Statuses by the outcome with which a push is counted. Default: 400. */
const STATUS_OF: Record<string, 429 | 502 | 503> = { suspended: 503, 'rate-limited': 429, failed: 502 };
const NOTHING_TAKEN = 'no ref of it is accepted';
/** Matches an option of `git push` in a sentence. */
const GIT_OPTION = /(^|[ "])-o ([a-z][a-z-]*)(=?)/g;
const OPTION_NAMES: ReadonlySet<string> = new Set(KNOWN_OPTIONS.map((each) => each.replace(/=$/, '')));

/** The mark in front of an option that is added to an address: `?` begins a query. */
type Mark = '?' | '&';

/** Writes an advice for Git as one for the address, but for commands of Git. */
export function forAddress(line: string, mark: Mark): string {
  if (/^ *git /.test(line)) return line;
  return line.replaceAll(GIT_OPTION, (all, before: string, name: string, equals: string) => {
    if (name === 'pr-key') return `${before}the header ${PR_KEY}${equals && ': '}`;
    return OPTION_NAMES.has(name) ? `${before}${mark}${name}${equals}` : all;
  });
}

/** Makes lines of a push visible, and fit for the address of this request. */
function shownAt(c: Context<AppEnv>): (line: string) => string {
  const mark = new URL(c.req.url).search === '' ? '?' : '&';
  return (line) => visible(forAddress(line, mark));
}

/** @param told all lines, without the last one of a refusal. */
export function answerPushed(c: Context<AppEnv>, outcome: Outcome, told: readonly string[]): Response {
  const refusal = outcome.kind === 'refused' && outcome.refusal.preview === null ? outcome.refusal : null;
  if (refusal !== null) return answerFailed(c, refusal, told);
  if (outcome.kind === 'nothing-taken') return answerFailed(c, null, told);
  const shown = shownAt(c);
  const findings = findingsOf(outcome).map((each) => asJson(each, shown));
  return answerAccepted(c, { ...factsOf(outcome), lines: told.map(shown), findings });
}

export function answerAccepted(c: Context<AppEnv>, answer: z.infer<typeof pushedAnswer>): Response {
  if (formOf(c) === 'text') return c.text(asText(answer.lines), 200, NOT_KEPT);
  return c.json<z.infer<typeof pushedAnswer>>(answer, 200, NOT_KEPT);
}

/** @param refusal null: none of its refs is accepted. */
function answerFailed(c: Context<AppEnv>, refusal: Refusal | null, told: readonly string[]): Response {
  const error = refusal?.reason ?? NOTHING_TAKEN;
  const isUnconfirmed = refusal?.code === 'unconfirmed';
  const status: ErrorStatus = isUnconfirmed
    ? 409
    : refusal === null
      ? 400
      : (STATUS_OF[pushOutcome(refusal)] ?? 400);
  const shown = shownAt(c);
  const lines = [...told, `push rejected: ${error}`].map(shown);
  const waitMs = refusal?.waitMs ?? null;
  const waits = waitMs === null ? {} : { 'Retry-After': retryAfter(waitMs) };
  const headers = { ...NOT_KEPT, ...waits, [ERROR_CODE]: CODES[status] };
  if (formOf(c) === 'text') return c.text(asText(lines), status, headers);
  const findings = refusal === null ? [] : faultsOf(refusal).map((each) => asJson(each, shown));
  const state = isUnconfirmed ? 'unconfirmed' : 'refused';
  return c.json<z.infer<typeof refusedAnswer>>({ error, state, lines, findings }, status, headers);
}

const asText = (lines: readonly string[]): string => `${lines.join('\n').trimStart()}\n`;

type Accepted = Exclude<Outcome, { kind: 'nothing-taken' }>;

function factsOf(outcome: Accepted): Omit<z.infer<typeof pushedAnswer>, keyof typeof shared> {
  const none = { pr_url: null, pr_hash: null, pr_key: null, page: null };
  switch (outcome.kind) {
    case 'published': {
      const { updated, prUrl, prHash, key, pageUrl } = outcome.facts;
      const state = updated ? 'updated' : 'opened';
      return { state, pr_url: prUrl, pr_hash: prHash, pr_key: key, page: pageUrl };
    }
    case 'delayed':
      return { ...none, state: 'delayed', page: outcome.facts.pageUrl };
    case 'withdrawn':
      return { ...none, state: 'withdrawn', pr_url: outcome.withdrawn.prUrl };
    case 'refused':
      return { ...none, state: 'previewed' };
  }
}

function findingsOf(outcome: Accepted): readonly Finding[] {
  if (outcome.kind === 'refused') return outcome.refusal.preview?.findings ?? [];
  return 'findings' in outcome ? outcome.findings : [];
}

function faultsOf({ all, warnings }: Refusal): readonly Finding[] {
  const refusals = all.map(({ code, reason, lines }): Finding => {
    return { severity: 'refuse', code, lines: [sentence(reason), ...lines] };
  });
  return [...refusals, ...warnings];
}

type FindingAnswer = z.infer<typeof finding>;

function asJson(
  { severity, code, lines, places = [] }: Finding,
  shown: (line: string) => string,
): FindingAnswer {
  return { severity, code, lines: lines.map(shown), places: places.map(visible) };
}
