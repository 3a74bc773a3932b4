/**
 * Sends a private report, once, and keeps nothing of it: no row but those of the limits and, for a
 * form or an Idempotency-Key, that something was sent under its hash; no figure; one line in the
 * log, without the repository. Nothing can take a report back, so whatever is suspended stops it.
 * Proved by test/routes/security/report.test.ts and test/e2e/people/private-report.test.ts.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import { accountLimits, type Config } from '../../config/config.ts';
import { hostNameOf } from '../../config/hosts.ts';
import type { PostResult } from '../../durable/host-account/posts.ts';
import type { AppEnv } from '../../env.ts';
import { accountOf, openHostAccess } from '../../host-access.ts';
import type { PrivateReport, SentReport } from '../../host/code-host.ts';
import { openPrivateReports, type PrivateReportHost } from '../../host/open.ts';
import { DENIED } from '../../host/rest/actor.ts';
import { openingIn, quotaNamesOf, writeClaim } from '../../limits/claim.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { guardOf } from '../../objects.ts';
import { openPolicies } from '../../policy/policies.ts';
import { reportRefusal } from '../../policy/security-policy.ts';
import { creationLimitsOf, targetOf } from '../../service/limits.ts';
import { clientOf } from '../../service/scope.ts';
import { HostError } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { refusedToPost, refuseSuspendedReports } from '../request/limits.ts';
import { type Refused, refused, refuseWithoutBot, retryAfter, statusText } from '../request/refused.ts';
import { hostScopeOf, scopeOf } from '../request/scope.ts';
import { rememberPost, type Sent, postStandingOf } from '../threads/posting.ts';

/** Lists who can read a report, as the end of a sentence. */
export function readersOf({ privateReports }: Pick<Config, 'privateReports'>): string {
  const sender =
    privateReports === 'app' ? 'the GitHub App that sends it' : 'whoever can sign in as the bot account';
  return `the repository's maintainers, the code host, this service's operator while it passes, and ${sender}; everybody, once the maintainers publish it`;
}
export const NO_REPLIES =
  'none come back here: to be reached, name a contact in the report that does not lead to you';
export const SENT_BEFORE =
  'and the code host has the report: nothing is kept here of it or of the answer; a second one would double it';
export const MAY_HAVE_ARRIVED =
  'the report may have arrived, and nothing here can tell: it is not sent again by itself, because a second one would double it';

type SendOutcome = (SentReport & { readonly kind: 'sent' }) | Refused;

/** Sends a report after `checkReport` has counted the attempt. What is cheap is asked first. */
export async function sendReport(
  c: Context<AppEnv>,
  target: RepositoryName,
  report: PrivateReport,
  { sent, name }: Pick<Sent, 'sent' | 'name'>,
): Promise<SendOutcome> {
  const refusal = refuseReports(c) ?? (await refuseSuspendedReports(c));
  if (refusal !== null) return refusal;
  const limits = await limitsOfTarget(c, target);
  if ('kind' in limits) return limits;
  if (name === null) return sendNow(c, target, report, limits);
  const standing = await postStandingOf(c, name).catch(() => null);
  switch (standing?.kind) {
    case undefined: {
      const words = `the service cannot tell whether this ${sent} was sent before; nothing was sent: send it again in a minute`;
      return refused(503, words, { 'Retry-After': '60' });
    }
    case 'sending': {
      const words = `the service is still sending this report; send the ${sent} again in a minute`;
      return refused(503, words, { 'Retry-After': '60' });
    }
    case 'posted':
    case 'sent':
      return { ...refused(409, `this ${sent} was sent before, ${SENT_BEFORE}`), title: 'Sent before' };
    case 'unknown':
      return refused(409, `this ${sent} was sent before: ${MAY_HAVE_ARRIVED}`, {}, 'may-exist');
    case 'other':
      return refused(422, 'this Idempotency-Key was sent with another body; send a new key with each report');
    case 'new':
  }
  let result: PostResult = { kind: 'unknown' };
  try {
    const outcome = await sendNow(c, target, report, limits);
    if (outcome.kind === 'sent') result = { kind: 'sent' };
    else if (outcome.code !== 'may-exist') result = { kind: 'new' };
    return outcome;
  } finally {
    await rememberPost(c, name, result);
  }
}

/** Refuses where the service or the host has no private reports; null: they may be sent. */
export function refuseReports(c: Context<AppEnv>): Refused | null {
  const { config, host } = c.var;
  if (!openPrivateReports(accessOf(c)).isOffered)
    return refused(403, `${hostNameOf(host)} has no private reports`, {}, 'not-accepted');
  if (config.privateReports === 'off')
    return refused(403, 'this service sends no private reports: its operator has not switched them on');
  return refuseWithoutBot(c);
}

/** Asks the host. @throws HostError */
export function areReportsTaken(c: Context<AppEnv>, target: RepositoryName): Promise<boolean> {
  return openPrivateReports(accessOf(c)).areTaken(target);
}

/** Who reports, and the name of the account whose limits count for it. */
interface Reporter {
  readonly reports: PrivateReportHost;
  readonly payer: string;
}

/** Chooses who reports. @throws HostError */
export async function reporterFor(c: Context<AppEnv>, target: RepositoryName): Promise<Reporter | Refused> {
  const { config, host } = c.var;
  const access = accessOf(c);
  if (config.privateReports !== 'app') return { reports: openPrivateReports(access), payer: accountOf(host) };
  const reporting = (await access.writers?.forReport(target)) ?? null;
  if (reporting === null) {
    const words = `${fullName(target)} does not let this service's GitHub App report vulnerabilities`;
    return refused(403, words, {}, 'not-accepted');
  }
  const { payer, ...app } = reporting;
  return { reports: openPrivateReports({ ...access, ...app }), payer };
}

export const reportsNotTaken = (target: RepositoryName): string =>
  `${fullName(target)} takes no private reports: its maintainers have not switched them on`;

const accessOf = (c: Context<AppEnv>) => openHostAccess(hostScopeOf(c));

/** Asks the policy, and gives its limits. */
async function limitsOfTarget(
  c: Context<AppEnv>,
  target: RepositoryName,
): Promise<readonly Limit[] | Refused> {
  const policy = await openPolicies(hostScopeOf(c)).of(target);
  if (policy === undefined)
    return refused(503, `the policy of ${fullName(target)} cannot be read at the moment; try again later`);
  if (policy === null) return refused(400, 'failed to send the report: 404 Not Found', {}, 'not-created');
  const notAccepted = reportRefusal(policy, target);
  return notAccepted === null ? policy.limits : refused(403, notAccepted, {}, 'not-accepted');
}

async function sendNow(
  c: Context<AppEnv>,
  target: RepositoryName,
  report: PrivateReport,
  limits: readonly Limit[],
): Promise<SendOutcome> {
  const { config, host } = c.var;
  const taken = await hostAnswer(() => areReportsTaken(c, target));
  if (taken instanceof HostError) return refusedBeforeSending(c, taken);
  if (!taken) return refused(403, reportsNotTaken(target), {}, 'not-accepted');
  const reporter = await hostAnswer(() => reporterFor(c, target));
  if (reporter instanceof HostError) return refusedBeforeSending(c, reporter);
  if ('kind' in reporter) return reporter;
  const scope = hostScopeOf(c);
  const opening = await targetOf(scope, target, null, limits);
  const claim = writeClaim(quotaNamesOf(await clientOf(scope)));
  const grant = await creationLimitsOf(scope, reporter.payer).reserve(
    openingIn(opening, accountLimits(config, host), claim),
  );
  if (grant.kind === 'denied') return refusedToPost(c, grant, opening);
  const send = () => hostAnswer(() => reporter.reports.send(target, report));
  const writers = config.privateReports === 'app' ? accessOf(c).writers : undefined;
  let sent = await send();
  if (sent instanceof HostError && (await writers?.waitForToken(target, sent.failure))) sent = await send();
  if (!(sent instanceof HostError)) {
    c.var.logger.info('a private report was sent');
    waitUntil(countReport(c));
    return { kind: 'sent', ...sent };
  }
  // Without an answer of the host, the report may exist, so its place in the limits stays taken.
  if (sent.failure.effect === 'none') waitUntil(grant.release());
  // The App may have been installed anew, or have other permissions. The next attempt asks.
  if (DENIED.includes(sent.failure.status)) await writers?.hasChanged(target, sent.failure);
  return refusedByHost(c, sent);
}

async function hostAnswer<T>(ask: () => Promise<T>): Promise<T | HostError> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
}

function refusedBeforeSending(c: Context<AppEnv>, error: HostError): Refused {
  const { lasts, status } = error.failure;
  if (lasts === 'final' && status !== null) return refusedByHost(c, error);
  const hostName = hostNameOf(c.var.host);
  const words = `${hostName} cannot say now whether the repository takes private reports; nothing was sent: try again later`;
  return refused(503, words, { 'Retry-After': '60' });
}

/**
 * Refuses without a line in the log, which would tell when somebody has tried to report something.
 */
function refusedByHost(c: Context<AppEnv>, { failure, publicMessage }: HostError): Refused {
  const { effect, lasts, retryAfterMs, status, says } = failure;
  const hostName = hostNameOf(c.var.host);
  if (effect === 'unknown' || (status === null && lasts !== 'until'))
    return refused(502, `no answer from ${hostName}: ${MAY_HAVE_ARRIVED}`, {}, 'may-exist');
  if (lasts === 'until') {
    const words = `${hostName} asks to slow down; the report was not sent: try again later`;
    return refused(503, words, { 'Retry-After': retryAfter(retryAfterMs ?? 60_000) });
  }
  const refusal = refused(400, `failed to send the report: ${statusText(status)}`, {}, 'not-created');
  return { ...refusal, explanation: says === '' ? publicMessage : `${hostName} says: ${says}` };
}

/** Counts a report, so that the operator is told of a burst. No answer waits for this. */
async function countReport(c: Context<AppEnv>): Promise<void> {
  try {
    const client = await clientOf(scopeOf(c));
    await guardOf(c.env).countReport(client.hash('burst'), client.prefixHash('burst'));
  } catch (error) {
    c.var.logger.warn('a post was not counted', { error });
  }
}
