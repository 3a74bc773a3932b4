/** The commits of a pull request as an mbox, which `git am` takes: passed on as the host sends it. */
import type { RequestParameters } from '@octokit/types';
import { expectStatus } from './answer.ts';
import type { RestCalls } from './octokit.ts';

/** Longer patches are rare, and better fetched with Git. */
const MAX_PATCH_BYTES = 16 * 1024 * 1024;
/** Until the last byte: readers may be slow. */
const TIMEOUT_MS = 5 * 60_000;
/** What every message of an mbox begins with. */
const BEGINNING = 'From ';

/**
 * A stream that fails if there is more than a limit. No bytes: the pull request has no commits.
 * @param route of the call, with its parameters. @throws HostError
 */
export function patchOf(
  { octokit, retried }: RestCalls,
  route: string,
  parameters: RequestParameters,
): Promise<ReadableStream<Uint8Array>> {
  return retried(async () => {
    const request = { parseSuccessResponseBody: false, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const answer = await octokit.request(route, { ...parameters, request });
    expectStatus(answer, 200);
    const reader = (answer.data as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    const start = Buffer.from(first.value?.subarray(0, BEGINNING.length) ?? []).toString();
    if (!BEGINNING.startsWith(start)) {
      await reader.cancel();
      throw new TypeError('the host answers with something else than a patch');
    }
    return passedOn(reader, first);
  });
}

function passedOn(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  first: ReadableStreamReadResult<Uint8Array>,
): ReadableStream<Uint8Array> {
  let unsent: typeof first | null = first;
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = unsent ?? (await reader.read());
      unsent = null;
      if (done) return controller.close();
      bytes += value.byteLength;
      if (bytes <= MAX_PATCH_BYTES) return controller.enqueue(value);
      await reader.cancel();
      controller.error(new RangeError('the patch is too long'));
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
