/**
 * Reports vulnerabilities to the maintainers of a repository alone, where the host can. Whose
 * account reports is decided by whoever opens this.
 * Proved by test/sandbox/host-contract.test.ts and test/e2e/people/private-report.test.ts.
 */
import { expectAddress, expectFlag, expectStatus, expectText } from './answer.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type { PrivateReport, SentReport } from '../code-host.ts';
import { placeOf, underCurrentName } from './reads.ts';
import { Rest, type RestAccess } from './rest.ts';

/** Matches an id; GitHub's own examples have letters that no real one has. */
const GHSA_ID = /^GHSA(?:-[0-9a-z]{4}){3}$/;

export class RestPrivateReports {
  readonly #rest: Rest;

  constructor(access: RestAccess) {
    this.#rest = new Rest(access, { timeoutMs: 10_000 });
  }

  /** True if the host has such reports. */
  get isOffered(): boolean {
    return this.#rest.differences.hasPrivateReports;
  }

  /**
   * Tells if the maintainers take private reports.
   * @throws HostError
   */
  async areTaken(repository: RepositoryName): Promise<boolean> {
    return this.#rest.retried(async () => {
      const place = placeOf(repository);
      const answer = await this.#rest.call(
        'GET /repos/{owner}/{repo}/private-vulnerability-reporting',
        place,
      );
      expectStatus(answer, 200);
      return expectFlag(answer.data.enabled);
    });
  }

  /**
   * Sends a report. **Once.** The package is always named: without it, GitHub answers 500
   * (nubbymong/claude-command-center#207).
   * @throws HostError
   */
  async send(repository: RepositoryName, report: PrivateReport): Promise<SentReport> {
    const { summary, description, rating, cweIds, vulnerableVersions, patchedVersions } = report;
    const vulnerability = {
      package: report.package,
      ...(vulnerableVersions !== '' && { vulnerable_version_range: vulnerableVersions }),
      ...(patchedVersions !== '' && { patched_versions: patchedVersions }),
    };
    const fields = {
      summary,
      description,
      ...rating,
      ...(cweIds.length > 0 && { cwe_ids: [...cweIds] }),
      vulnerabilities: [vulnerability],
    };
    const create = async (name: RepositoryName): Promise<SentReport> => {
      const request = { ...placeOf(name), ...fields };
      const answer = await this.#rest.call('POST /repos/{owner}/{repo}/security-advisories/reports', request);
      expectStatus(answer, 201);
      const id = expectText(answer.data.ghsa_id);
      if (!GHSA_ID.test(id)) throw new TypeError('the host names no report');
      return { id, url: expectAddress(answer.data.html_url) };
    };
    return underCurrentName(this.#rest, repository, (name) => this.#rest.retried(() => create(name), false));
  }
}
