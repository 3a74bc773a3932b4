/**
 * Pages to report a vulnerability to the maintainers alone: what is known before anybody types, the
 * form, the preview, and the result.
 * Proved by test/e2e/people/private-report.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { PrivateReport } from '../../host/code-host.ts';
import { ECOSYSTEMS, SEVERITIES } from '../../host/kinds.ts';
import type { SecurityPolicy } from '../../policy/security-policy.ts';
import { card, factList, type Html, type Page, safeUrl, statusLine, visibleText } from '../layout.ts';
import { ISSUE_FORM } from '../remote-paths.ts';
import {
  asItStands,
  cardForm,
  closedNotice,
  field,
  type FormFrame,
  formPage,
  type FormPlace,
  type GivenAway,
  nameField,
  previewPage,
  problemNotice,
  shownValue,
} from './parts.ts';

/** The fields as they are typed, by the names of the JSON endpoint. */
export type TypedReport = Readonly<Record<(typeof REPORT_FIELDS)[number], string>>;

export const REPORT_FIELDS = [
  'summary',
  'description',
  'severity',
  'cvss_vector_string',
  'ecosystem',
  'package',
  'vulnerable_version_range',
  'patched_versions',
  'cwe_ids',
  'own_name',
] as const;

interface SecurityForm extends FormFrame {
  readonly typed: TypedReport;
}

/** Facts that the page shows before anybody types. */
export interface KnownReports {
  /** Lines that say why no report can be sent now; null: as far as is known, it can. */
  readonly closed: string | null;
  /** Whether the maintainers take private reports; null: that is not known now. */
  readonly isTaken: boolean | null;
  readonly policy: SecurityPolicy;
  /** The address of its file at the code host; empty: there is none. */
  readonly fileUrl: string;
}

const TITLE = 'Report a vulnerability';
const MAX_SUMMARY = 1024;
const MAX_LINE = 256;
const DESCRIPTION_HINT =
  'Markdown: what is wrong, how it can be shown, what it leads to. Leave out whatever shows who you are.';
const SEVERITY_CHOICES = [
  ['', 'By the CVSS vector below'],
  ...SEVERITIES.map((word) => [word, word] as const),
] as const;
const VECTOR_HINT = 'In place of a severity, if you have one: CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
const PACKAGE_HINT = 'Without a name, the report has that of the repository: the code host wants one.';
const CWE_HINT = 'Kinds of weaknesses, with commas between them, such as CWE-79, CWE-89.';

const lead = (readers: string, { home }: FormPlace): Html =>
  html`A bot sends it to the maintainers. Who can read it: ${readers}.
    <strong>An issue is public:</strong> what others must not know yet does not belong
    <a href="${home}${ISSUE_FORM}">there</a>.`;

/** @param known is null after something was typed, when the host is not asked again. */
export function securityFormPage(form: SecurityForm, readers: string, known: KnownReports | null): Page {
  const closed = known?.closed ?? null;
  const policy = known === null ? '' : policyCard(known);
  const content =
    closed === null
      ? html`${known && takenLine(known, form)} ${problemNotice(form.problem)}
        ${cardForm(form, {}, html`${fieldsOf(form.typed)}`, { preview: 'Preview' })}`
      : closedNotice(form, closed);
  return formPage(TITLE, form, lead(readers, form), html`${policy} ${content}`);
}

function takenLine({ isTaken }: KnownReports, { repository }: FormPlace): Html {
  return isTaken === true
    ? statusLine('good', `${repository} takes private reports.`)
    : statusLine('warn', `Whether ${repository} takes private reports is not known now. Sending asks again.`);
}

function policyCard({ policy, fileUrl }: KnownReports): Html {
  if (policy.kind !== 'file') {
    const words =
      policy.kind === 'none'
        ? 'The repository has no SECURITY.md, so it names no other way.'
        : 'Its SECURITY.md cannot be read now. Read it at the code host before you write.';
    return html`<p>${words}</p>`;
  }
  const link = html`<a href="${safeUrl(fileUrl)}" rel="noreferrer">${visibleText(policy.path)}</a>`;
  return card(
    'policy',
    'What the maintainers ask for',
    html`<details open>
        <summary>Their ${visibleText(policy.path)}</summary>
        <pre>${'\n'}${visibleText(policy.text)}</pre>
      </details>
      <p class="soft small">
        ${policy.isCut ? 'It goes on: read all of' : 'This is all of'} ${link}. An address in it leads away
        from this service: whom you ask there sees yours, or your account.
      </p>`,
  );
}

function fieldsOf(typed: TypedReport): Html[] {
  const optional = { isOptional: true, maxLength: MAX_LINE };
  const ecosystems = ECOSYSTEMS.map((name) => [name, name] as const);
  return [
    field('summary', 'Summary', typed.summary, { maxLength: MAX_SUMMARY }),
    field('description', 'Description', typed.description, { hint: DESCRIPTION_HINT, rows: 12 }),
    field('severity', 'Severity', typed.severity, { choices: SEVERITY_CHOICES, isOptional: true }),
    field('cvss_vector_string', 'CVSS vector (optional)', typed.cvss_vector_string, {
      ...optional,
      hint: VECTOR_HINT,
    }),
    field('ecosystem', 'Ecosystem', typed.ecosystem, { choices: ecosystems, isOptional: true }),
    field('package', 'Package (optional)', typed.package, { ...optional, hint: PACKAGE_HINT }),
    field(
      'vulnerable_version_range',
      'Vulnerable versions (optional)',
      typed.vulnerable_version_range,
      optional,
    ),
    field('patched_versions', 'Patched versions (optional)', typed.patched_versions, optional),
    field('cwe_ids', 'CWE ids (optional)', typed.cwe_ids, { ...optional, hint: CWE_HINT }),
    nameField(typed),
  ];
}

/** @param report as it is sent. */
export function securityPreviewPage(
  form: SecurityForm,
  readers: string,
  report: PrivateReport,
  given: GivenAway,
): Page {
  const { rating, package: named, vulnerableVersions, patchedVersions, cweIds } = report;
  const facts = factList({
    Severity: 'severity' in rating ? rating.severity : visibleText(rating.cvss_vector_string),
    Package: `${visibleText(named.name)} (${named.ecosystem})`,
    'Vulnerable versions': visibleText(vulnerableVersions) || null,
    'Patched versions': visibleText(patchedVersions) || null,
    CWE: cweIds.join(', ') || null,
  });
  return previewPage('Preview of the report', form, {
    lead: html`This is everything that is sent. Who can read it: ${readers}. What is called public below holds
    for them.`,
    given,
    shown: card('shown', visibleText(report.summary), html`${asItStands(report.description)} ${facts}`),
    typed: form.typed,
    steps: { post: 'Send the report', edit: 'Change it' },
  });
}

/** @param words say who reads it, and that no reply comes back. */
export function securitySentPage(
  place: FormPlace,
  { id, url }: Readonly<Record<'id' | 'url', string>>,
  words: Readonly<Record<'readers' | 'replies', string>>,
): Page {
  const link = html`<a href="${safeUrl(url)}" rel="noreferrer">${url}</a>`;
  return formPage(
    'Your report was sent',
    place,
    `To the maintainers of ${place.repository}.`,
    html`<section class="card" aria-labelledby="keep">
      <h2 id="keep">What you can keep</h2>
      <p>With this id you can speak of the report. This service has kept neither the id nor the report.</p>
      ${shownValue('report-id', 'Id of the report', id)}
      <p>Who can read it: ${words.readers}.</p>
      <p>Replies: ${words.replies}.</p>
      <p class="soft small">
        Its page at the code host, which only its readers see: ${link}. Whoever opens it looks like its
        author.
      </p>
    </section>`,
  );
}
