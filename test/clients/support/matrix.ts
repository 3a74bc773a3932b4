/** Makes tests of the stories: each client is a column of the table in docs/clients.md. */
import { describe, it } from 'vitest';
import { type TestBed, useTestBed } from '../../e2e/support/test-bed.ts';
import type { Ability, GitClient, Prepared } from './client.ts';
import { changes } from '../stories/changes.ts';
import { severalRefs } from '../stories/several-refs.ts';
import type { Detour } from '../stories/story.ts';
import { transfers } from '../stories/transfers.ts';

export function describeClient(prepared: Prepared): void {
  if (prepared.kind === 'missing') {
    describe(`${prepared.name} (not to be had: ${prepared.reason})`, () => it.skip('every story', () => {}));
    return;
  }
  const { client } = prepared;
  describe(`${client.name} ${client.version}`, () => {
    const bed = useTestBed();
    for (const { name, act, needs = {} } of [...transfers, ...changes, ...severalRefs]) {
      const lacks = (Object.keys(needs) as Ability[]).find((ability) => client.cannot[ability] !== undefined);
      if (lacks === undefined) it(name, () => act(bed, client));
      else testDetour(bed, client, `${name}: cannot, ${client.cannot[lacks]}`, needs[lacks] ?? null);
    }
  });
}

function testDetour(bed: TestBed, client: GitClient, name: string, detour: Detour | null): void {
  if (detour === null) it.skip(name, () => {});
  else it(`${name}; ${detour.name}`, () => detour.act(bed, client));
}
