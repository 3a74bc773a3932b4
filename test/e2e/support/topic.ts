/** Reads topics, as whoever has subscribed to them. */
import type { NtfyMessage } from '../../../sandbox/records.ts';
import type { TestBed } from './test-bed.ts';
import { TEST_HEADER } from './tripwire.ts';

/** Reads what was published to a topic so far, oldest first. */
export async function publishedTo(
  { sandbox }: Pick<TestBed, 'sandbox'>,
  topic: string,
): Promise<NtfyMessage[]> {
  const url = `${sandbox.notifyUrl}/${topic}/json?poll=1`;
  const response = await fetch(url, { headers: { [TEST_HEADER]: '1' } });
  const lines = (await response.text()).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as NtfyMessage);
}

/** Reads the texts that the topic of a pull request was sent. */
export async function topicTexts(bed: Pick<TestBed, 'sandbox'>, prHash: string): Promise<string[]> {
  return (await publishedTo(bed, `anon-pr-${prHash}`)).map(({ message }) => message);
}
