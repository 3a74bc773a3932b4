import type { TestBed } from './test-bed.ts';
import { TEST_HEADER } from './tripwire.ts';

/** The page of a pull request, as a terminal shows it. */
export async function prPage({ service }: Pick<TestBed, 'service'>, prHash: string): Promise<string> {
  const headers = { Accept: 'text/plain', [TEST_HEADER]: '1' };
  const response = await fetch(`${service.url}/v1/pr/${prHash}`, { headers });
  return `${response.status} ${await response.text()}`;
}
