/** Promises about private reports (`PrivateReportHost`). */
import { describe, expect, it } from 'vitest';
import type { PrivateReport } from '../../../src/host/code-host.ts';
import { type CodeHost, openPrivateReports } from '../../../src/host/open.ts';
import { HostError } from '../../../src/words/host-error.ts';
import type { World } from './world.ts';

const REPORT: PrivateReport = {
  summary: 'It opens doors',
  description: 'Knock **twice**.',
  rating: { severity: 'high' },
  package: { ecosystem: 'npm', name: 'doors' },
  vulnerableVersions: '< 2',
  patchedVersions: '',
  cweIds: ['CWE-79'],
};

export function privateReportsContract(flow: CodeHost['flow'], world: () => World): void {
  const open = () => openPrivateReports(world().host.access);

  describe('a private report', () => {
    if (flow === 'agit') {
      it('is not offered', () => expect(open().isOffered).toBe(false));
      return;
    }

    it('is refused where the maintainers have not switched it on', async () => {
      const { name } = await world().host.createRepository();
      expect([open().isOffered, await open().areTaken(name)]).toEqual([true, false]);
      const error = await open()
        .send(name, REPORT)
        .catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(HostError);
      expect((error as HostError).failure).toMatchObject({ effect: 'none', status: 403 });
      expect((error as HostError).publicMessage).toContain('takes no private reports');
    });

    it('is sent, under a new name of the repository, too, and gets an id', async () => {
      const repository = await world().host.createRepository();
      const { name } = repository;
      await repository.takePrivateReports();
      expect(await open().areTaken(name)).toBe(true);
      const first = await open().send(name, REPORT);
      expect(first.id).toMatch(/^GHSA-/);
      expect(first.url).toContain(`/security/advisories/${first.id}`);
      await repository.rename(`${name.name}-2`);
      const rating = { cvss_vector_string: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' };
      const second = await open().send(name, { ...REPORT, rating, cweIds: [] });
      expect(second.id).not.toBe(first.id);
    });

    it('to a missing repository is refused', async () => {
      const { name } = await world().host.createRepository();
      const missing = { ...name, name: 'nothing' };
      for (const ask of [() => open().areTaken(missing), () => open().send(missing, REPORT)]) {
        const error = await ask().catch((caught: unknown) => caught);
        expect((error as HostError).failure).toMatchObject({ effect: 'none', status: 404 });
      }
    });
  });
}
