/** `-o preview`: does everything except sending, and shows what would become public. */
import { fullName } from '../host/repository-name.ts';
import type { IdentityGuard } from './rewriting/identity-guard.ts';
import { warningOfNames } from './rewriting/message-names.ts';
import type { PackRelay } from './fork/pack-relay.ts';
import type { Preparation } from './preparation.ts';
import { proposedText } from './pull-request/proposal.ts';
import type { PushOptions } from './command/push-options.ts';
import { Refusal } from './reply/refusal.ts';
import type { RewrittenCommit, RewrittenHistory } from './rewriting/rewriting.ts';

/** More are counted, not shown. */
const MAX_COMMITS_SHOWN = 50;
const MAX_BODY_LINES_SHOWN = 20;

export interface Previewed {
  readonly prepared: Preparation;
  readonly options: PushOptions;
  readonly relay: PackRelay;
  /** Null: nobody looks for names. */
  readonly guard: IdentityGuard | null;
}

/** The answer to a preview. */
export function previewed({ prepared, options, relay, guard }: Previewed): Refusal {
  const { upstream, base, continuation, hasSubmodules, footer } = prepared;
  const rewritten = relay.rewritten as RewrittenHistory;
  const { title, body } = proposedText(options, rewritten.tipCommit, footer);
  const { objectCount, bytes } = relay.size;
  const commits = rewritten.commits();
  return new Refusal(
    'preview: nothing was published',
    [
      continuation.isUpdate
        ? `This push would update the pull request ${continuation.pullRequest?.url ?? ''}:`
        : 'This push would open a pull request:',
      '',
      `  Repository:  ${fullName(upstream.repository)}`,
      `  Base:        ${base.ref.name.slice('refs/heads/'.length)}`,
      `  Title:       ${title}`,
      ...bodyLines(body),
      '',
      `Its ${commits.length === 1 ? 'commit' : `${commits.length} commits`}, by ${prepared.botLogin}:`,
      ...commits.slice(0, MAX_COMMITS_SHOWN).map(commitLine),
      ...(commits.length > MAX_COMMITS_SHOWN ? [`  and ${commits.length - MAX_COMMITS_SHOWN} more`] : []),
      '',
      `${objectCount === 1 ? '1 object' : `${objectCount} objects`}, ${bytes} bytes, would be sent.`,
      ...identityLines(guard),
      ...(hasSubmodules ? ['Submodules that it changes are named once it is pushed.'] : []),
      ...warningOfNames(rewritten.messages),
    ],
    { outcome: 'preview' },
  );
}

function identityLines(guard: IdentityGuard | null): readonly string[] {
  if (guard === null) return ['This service does not search for the names of the commits’ authors.'];
  const { heading, findings, gaps, searchesForNames } = guard;
  if (findings.length > 0) return [heading, ...findings, ...gaps];
  const nothing = searchesForNames
    ? 'The service found no name or address of the commits’ authors in what would become public.'
    : 'The commits name nobody for whom the service could search. Look for your name yourself.';
  return [nothing, ...gaps];
}

function bodyLines(body: string): string[] {
  if (body === '') return ['  Description: (none)'];
  const lines = body.split('\n');
  const shown = lines.slice(0, MAX_BODY_LINES_SHOWN).map((line) => `    ${line}`);
  const rest = lines.length - shown.length;
  return ['  Description:', ...shown, ...(rest > 0 ? [`    and ${rest} more lines`] : [])];
}

function commitLine({ oid, committedAt, subject }: RewrittenCommit): string {
  const date = new Date(committedAt * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return `  ${oid.slice(0, 10)}  ${date} UTC  ${subject}`;
}
