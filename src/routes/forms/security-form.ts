/**
 * Serves the form that reports a vulnerability privately, with the code of the JSON endpoint. It
 * says before anybody types whether the maintainers take such reports, and what their SECURITY.md
 * says.
 * Proved by test/e2e/people/private-report.test.ts.
 */
import { fileUrl, hostNameOf } from '../../config/hosts.ts';
import { within } from '../../isolate/within.ts';
import {
  type KnownReports,
  REPORT_FIELDS,
  securityFormPage,
  securityPreviewPage,
  securitySentPage,
  type TypedReport,
} from '../../pages/forms/security-pages.ts';
import { reportRefusal, type SecurityPolicy, securityPolicyOf } from '../../policy/security-policy.ts';
import { fullName } from '../../words/repository-name.ts';
import { sentence } from '../../words/sentence.ts';
import { withPlainLineEnds } from '../request/form-fields.ts';
import { knownOver, refuseSuspendedReports } from '../request/limits.ts';
import { knownPolicy, mayRead } from '../request/reading.ts';
import { answerRefused, explanationOf, problem, type Refused } from '../request/refused.ts';
import { checkReport } from '../security/report.ts';
import {
  areReportsTaken,
  NO_REPLIES,
  reportsNotTaken,
  readersOf,
  refuseReports,
  reporterFor,
  sendReport,
} from '../security/send-report.ts';
import { answerForm, frameOf, type RequestedForm, secretsOf, type SentForm } from './form.ts';
import { givenAway, ownNameIn } from './given-away.ts';

/** How long the form waits for what the host says. Sending asks again. */
const PATIENCE_MS = 5_000;
const UNKNOWN: SecurityPolicy = { kind: 'unknown' };

export async function showSecurityForm(place: RequestedForm): Promise<Response> {
  const { c } = place;
  const [outlook, policy] = await Promise.all([factsOf(place), readPolicy(place)]);
  const url = policy.kind === 'file' ? fileUrl(c.var.host, policy.repository, policy.path) : '';
  // Nothing is filled in by the address, which proxies and histories keep.
  const form = { ...(await frameOf(place)), typed: typedReport(() => '') };
  return answerForm(c, securityFormPage(form, readersOf(c.var.config), { ...outlook, policy, fileUrl: url }));
}

/** Tells what is known before anybody types. Asks what is cheap first. */
async function factsOf(place: RequestedForm): Promise<Pick<KnownReports, 'closed' | 'isTaken'>> {
  const closed = await reportsClosed(place);
  const { c, target } = place;
  if (closed !== null || !(await mayRead(c))) return { closed, isTaken: null };
  const [isTaken = null, reporter] = await Promise.all([
    inTime(areReportsTaken(c, target)),
    inTime(reporterFor(c, target)),
  ]);
  if (isTaken === false) return { closed: sentence(reportsNotTaken(target)), isTaken };
  const refusal = reporter !== undefined && 'kind' in reporter ? explanationOf(reporter) : null;
  return { closed: refusal, isTaken };
}

/** Says why the service would send no report; null: it would. */
async function reportsClosed({ c, target }: RequestedForm): Promise<string | null> {
  const refusal = refuseReports(c) ?? (await refuseSuspendedReports(c)) ?? (await knownOver(c, 'comments'));
  if (refusal !== null) return explanationOf(refusal);
  const policy = await inTime(knownPolicy(c, target));
  if (policy === null)
    return `${hostNameOf(c.var.host)} has no public repository ${fullName(target)}. Correct the name.`;
  return policy === undefined ? null : reportRefusal(policy, target);
}

async function readPolicy({ c, target }: RequestedForm): Promise<SecurityPolicy> {
  if (!(await mayRead(c))) return UNKNOWN;
  return (await inTime(securityPolicyOf(c.var.host, target, c.var.http))) ?? UNKNOWN;
}

/** Answers undefined if there is no answer in time. */
function inTime<T>(asked: Promise<T>): Promise<T | undefined> {
  return within(PATIENCE_MS, asked).catch(() => undefined);
}

function typedReport(value: (name: (typeof REPORT_FIELDS)[number]) => string): TypedReport {
  const typed = REPORT_FIELDS.map((name) => [name, withPlainLineEnds(value(name))] as const);
  return Object.fromEntries(typed) as TypedReport;
}

export async function answerSecurity(
  place: RequestedForm,
  { fields, token, problem: unfit }: SentForm,
): Promise<Response> {
  const { c, target } = place;
  const typed = { ...typedReport((name) => fields.get(name) ?? ''), own_name: ownNameIn(fields) };
  const formOf = async (text: string | null) => ({ ...(await frameOf(place, text)), typed });
  const show = async (text: string | null, refusal: Refused | null): Promise<Response> => {
    const form = { ...(await formOf(text)), problem: refusal && explanationOf(refusal) };
    // A refused form must not cause calls of the host.
    return answerForm(
      c,
      securityFormPage(form, readersOf(c.var.config), null),
      refusal?.status,
      refusal?.headers,
    );
  };
  if (token === null) return show(null, problem(403, unfit));
  const step = fields.get('step');
  if (step === 'edit') return show(token.text, null);
  const { own_name, ...texts } = typed;
  const payload = payloadOf(texts);
  const checked = await checkReport(c, target, payload);
  if (checked.kind === 'refused') return show(token.text, checked);
  if (step !== 'post') {
    const given = givenAway(texts, own_name);
    return answerForm(
      c,
      securityPreviewPage(await formOf(token.text), readersOf(c.var.config), checked.report, given),
    );
  }
  const secrets = await secretsOf(c, token, [JSON.stringify(payload)]);
  const name = { name: secrets('name'), content: '' };
  const outcome = await sendReport(c, target, checked.report, { sent: 'form', name });
  if (outcome.kind === 'sent')
    return answerForm(
      c,
      securitySentPage(place, outcome, { readers: readersOf(c.var.config), replies: NO_REPLIES }),
    );
  // Nothing is left to send.
  if (outcome.code === 'conflict') return answerRefused(c, outcome, 'page');
  // If it may have arrived, the form gets a new token, so that whoever sends it again sends
  // another.
  return show(outcome.code === 'may-exist' ? null : token.text, outcome);
}

/** Gives the fields of the JSON endpoint, without those that are empty. */
function payloadOf({ cwe_ids, ...fields }: Omit<TypedReport, 'own_name'>): Record<string, unknown> {
  const ids = cwe_ids.split(',').map((id) => id.trim().toUpperCase());
  const given = Object.entries(fields).filter(([, value]) => value.trim() !== '');
  return { ...Object.fromEntries(given), cwe_ids: ids.filter(Boolean) };
}
