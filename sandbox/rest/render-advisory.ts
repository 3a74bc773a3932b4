/**
 * Renders a private report in GitHub's JSON: an advisory that waits for the maintainers. The types
 * are GitHub's own, so a missing or misspelt field does not compile.
 */
import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Host } from '../host.ts';
import type { PrivateReport, ReportedPackage, Repository } from '../records.ts';
import { fullName, repositoryHtmlUrl } from './render-repository.ts';
import { simpleUser } from './render-user.ts';

type Advisory =
  RestEndpointMethodTypes['securityAdvisories']['createPrivateVulnerabilityReport']['response']['data'];
type Vulnerability = NonNullable<Advisory['vulnerabilities']>[number];

export function renderAdvisory(host: Host, repository: Repository, report: PrivateReport): Advisory {
  const { ghsaId, author, createdAt, cweIds, cvssVector } = report;
  const reporter = simpleUser(host, author);
  return {
    ghsa_id: ghsaId,
    cve_id: null,
    url: `${host.apiUrl}/repos/${fullName(repository)}/security-advisories/${ghsaId}`,
    html_url: `${repositoryHtmlUrl(host, repository)}/security/advisories/${ghsaId}`,
    summary: report.summary,
    description: report.description,
    severity: report.severity,
    author: reporter,
    publisher: null,
    identifiers: [{ type: 'GHSA', value: ghsaId }],
    state: 'triage',
    created_at: createdAt,
    updated_at: createdAt,
    published_at: null,
    closed_at: null,
    withdrawn_at: null,
    submission: { accepted: false },
    vulnerabilities: report.vulnerabilities.map(renderVulnerability),
    cvss: cvssVector === null ? null : { vector_string: cvssVector, score: null },
    // What GitHub works out of a vector is not worked out here.
    cvss_severities: { cvss_v3: null, cvss_v4: null },
    cwes: cweIds.map((cwe_id) => ({ cwe_id, name: cwe_id })),
    cwe_ids: [...cweIds],
    credits: [],
    credits_detailed: [],
    // Whoever reports it goes on seeing it (docs.github.com, "Privately reporting a security
    // vulnerability").
    collaborating_users: [reporter],
    collaborating_teams: [],
    private_fork: null,
  };
}

function renderVulnerability(vulnerability: ReportedPackage): Vulnerability {
  const { ecosystem, name, vulnerableVersionRange, patchedVersions } = vulnerability;
  return {
    package: { ecosystem: ecosystem as NonNullable<Vulnerability['package']>['ecosystem'], name },
    vulnerable_version_range: vulnerableVersionRange,
    patched_versions: patchedVersions,
    vulnerable_functions: [],
  };
}
