/**
 * Private reports of vulnerabilities. Only the maintainers see them, so they have no page of their
 * own, and no call reads them.
 */
import { randomInt } from 'node:crypto';
import { REPORT_FAULT } from '../known-answers.ts';
import type { PrivateReport, ReportedPackage, Repository } from '../records.ts';
import type { Answer, ApiCall, FieldError } from './api-call.ts';
import { json, Refusal, requireViewer, validationFailed } from './api-call.ts';
import { requireOpenRepository } from './issue-rules.ts';
import { renderAdvisory } from './render-advisory.ts';
import type { Route } from './route.ts';
import { repositoryRoute } from './route.ts';

export const privateReportRoutes: readonly Route[] = [
  repositoryRoute(
    'GET',
    '/private-vulnerability-reporting',
    'repos/repos#check-if-private-vulnerability-reporting-is-enabled-for-a-repository',
    (_, { takesPrivateReports }) => json(200, { enabled: takesPrivateReports === true }),
  ),
  repositoryRoute(
    'POST',
    '/security-advisories/reports',
    'security-advisories/repository-advisories#privately-report-a-security-vulnerability',
    report,
  ),
];

/** Says so where it is off (forgekeep/nebula-mesh#118). */
const OFF = 'Repository does not have private vulnerability reporting enabled';

/** The ecosystems that GitHub's description lists. */
const ECOSYSTEMS = new Set(
  'rubygems npm pip maven nuget composer go rust erlang actions pub other swift'.split(' '),
);
const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;

/** Letters of an id (docs.github.com, "About GHSA IDs"). */
const LETTERS = '23456789cfghjmpqrvwx';

function report(call: ApiCall, repository: Repository): Answer {
  const { host, payload } = call;
  const { login } = requireViewer(call);
  if (repository.takesPrivateReports !== true) throw new Refusal(403, OFF);
  requireOpenRepository(repository);
  const { vulnerabilities } = payload;
  if (!Array.isArray(vulnerabilities) || vulnerabilities.length === 0)
    return { status: REPORT_FAULT.status, headers: {}, body: '' };
  const errors = [...fieldErrors(payload), ...vulnerabilities.flatMap(packageErrors)];
  if (errors.length > 0) throw validationFailed(...errors);
  const reported: PrivateReport = {
    ghsaId: newGhsaId(),
    author: login,
    createdAt: host.store.timestamp(),
    summary: payload['summary'] as string,
    description: payload['description'] as string,
    severity: (payload['severity'] ?? null) as PrivateReport['severity'],
    cvssVector: (payload['cvss_vector_string'] ?? null) as string | null,
    cweIds: (payload['cwe_ids'] ?? []) as string[],
    vulnerabilities: vulnerabilities.map(reportedPackage),
  };
  repository.privateReports = [...(repository.privateReports ?? []), reported];
  host.store.changed();
  return json(201, renderAdvisory(host, repository, reported));
}

function fieldErrors(payload: Readonly<Record<string, unknown>>): FieldError[] {
  const { severity, cvss_vector_string: cvss, cwe_ids: cwes } = payload;
  const errors = ['summary', 'description']
    .filter((field) => typeof payload[field] !== 'string' || payload[field] === '')
    .map((field) => wrong('missing_field', field));
  // "You must choose between setting this field or `cvss_vector_string`", as the description says.
  if ((severity ?? null) !== null && (cvss ?? null) !== null) errors.push(wrong('invalid', 'severity'));
  if ((severity ?? null) !== null && !SEVERITIES.some((known) => known === severity))
    errors.push(wrong('invalid', 'severity'));
  if ((cvss ?? null) !== null && !/^CVSS:[34]\.\d\//.test(String(cvss)))
    errors.push(wrong('invalid', 'cvss_vector_string'));
  if ((cwes ?? null) !== null && !(Array.isArray(cwes) && cwes.every(isCwe)))
    errors.push(wrong('invalid', 'cwe_ids'));
  return errors;
}

const isCwe = (id: unknown): boolean => /^CWE-\d+$/.test(String(id));

function packageErrors(vulnerability: { package?: { ecosystem?: unknown } } | null): FieldError[] {
  const isKnown = ECOSYSTEMS.has(String(vulnerability?.package?.ecosystem));
  return isKnown ? [] : [wrong('invalid', 'ecosystem')];
}

const wrong = (code: FieldError['code'], field: string): FieldError => ({
  resource: 'RepositoryAdvisory',
  code,
  field,
});

function reportedPackage(vulnerability: {
  package: { ecosystem: string; name?: string };
  vulnerable_version_range?: string;
  patched_versions?: string;
}): ReportedPackage {
  return {
    ecosystem: vulnerability.package.ecosystem,
    name: vulnerability.package.name ?? null,
    vulnerableVersionRange: vulnerability.vulnerable_version_range ?? null,
    patchedVersions: vulnerability.patched_versions ?? null,
  };
}

function fourLetters(): string {
  return Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

function newGhsaId(): string {
  return ['GHSA', fourLetters(), fourLetters(), fourLetters()].join('-');
}
