/** Which ids refs of upstream have: listed once a minute, whoever asks for whichever. */
import { expect, it } from 'vitest';
import { OidBeginnings } from '../../src/git/objects/oid-beginnings.ts';
import type { GitTransport } from '../../src/host/git/git-transport.ts';
import { advertisedAmong } from '../../src/upstream/known-ids.ts';
import { PatientClock } from '../host/support/scripted-host.ts';
import { oidNumber } from '../support/objects.ts';

const THERE = oidNumber(1);
const REF = 'refs/pull/1/head';

it('all refs are listed once a minute, and names are asked for only if one of the ids is there', async () => {
  const clock = new PatientClock();
  const asked: string[] = [];
  const transport = {
    hostName: 'host.test',
    advertisedIds: async () => {
      asked.push('ids');
      const ids = new OidBeginnings();
      ids.push(THERE);
      return ids;
    },
    advertised: async (_: unknown, oids: ReadonlySet<string>) => {
      asked.push(...oids);
      return new Map([[THERE, REF]]);
    },
  } as unknown as GitTransport;
  const among = (...oids: readonly string[]) =>
    advertisedAmong(
      { transport, clock },
      { owner: 'octo', name: 'hello' },
      new Set(oids),
      AbortSignal.any([]),
    );
  for (let push = 2; push < 10; push++) expect(await among(oidNumber(push))).toEqual(new Map());
  expect(asked).toEqual(['ids']);
  expect(await among(oidNumber(2), THERE)).toEqual(new Map([[THERE, REF]]));
  expect(asked).toEqual(['ids', THERE]);
  clock.at += 60_000;
  await among(oidNumber(2));
  expect(asked).toEqual(['ids', THERE, 'ids']);
});
