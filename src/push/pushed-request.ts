/** What a client asks for with a push, once its options are understood. */
import type { PushRequest } from '../git/push-request.ts';
import { parsePushOptions, type PushOptionsResult } from './command/push-options.ts';

export interface PushedRequest extends Pick<PushRequest, 'commandList' | 'capabilities'> {
  readonly parsed: PushOptionsResult;
}

export function pushedRequest({ commandList, capabilities, pushOptions }: PushRequest): PushedRequest {
  return { commandList, capabilities, parsed: parsePushOptions(pushOptions) };
}

/** Whether the push is only to show what would become public. */
export function isPreview({ parsed }: PushedRequest): boolean {
  return parsed.kind === 'valid' && parsed.options.preview;
}
