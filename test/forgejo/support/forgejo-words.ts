/**
 * Words of Forgejo about a push to `refs/for/`, where Gitea says something else
 * (`services/agit/agit.go` of both). It does not decode options here, as older servers of both
 * kinds do not.
 */
import type { Rewriting } from './recording-proxy.ts';
import { pkt } from '../../support/pkt-line.ts';

const WORDS: readonly (readonly [string, string])[] = [
  ['new commit is same with old commit', 'The new commit is the same as the old commit'],
  [
    'request `force-push` push option',
    'Updates were rejected because the tip of your current branch is behind its remote counterpart. If this is ' +
      'intentional, set the `force-push` option by adding `-o force-push=true` to your `git push` command.',
  ],
];

const DESCRIPTION = /^description=\{base64\}/;

export const FORGEJO_WORDS: Rewriting = {
  /** Twice encoded, so that Gitea decodes it to what was sent. */
  request(body) {
    const pieces: Buffer[] = [];
    let at = 0;
    while (body.toString('latin1', at, at + 4) !== 'PACK' && at < body.length) {
      const length = Number.parseInt(body.toString('latin1', at, at + 4), 16);
      const line = body.subarray(at + 4, at + Math.max(4, length)).toString();
      const isEncoded = length > 4 && DESCRIPTION.test(line);
      const value = Buffer.from(line.slice('description='.length)).toString('base64');
      pieces.push(
        isEncoded ? pkt(`description={base64}${value}`) : body.subarray(at, at + Math.max(4, length)),
      );
      at += Math.max(4, length);
    }
    return Buffer.concat([...pieces, body.subarray(at)]);
  },

  /** Side-band packets, and lines of the report in those of band 1. */
  answer: (body) =>
    rewritten(body, (packet) =>
      packet[0] === 1
        ? Buffer.concat([packet.subarray(0, 1), rewritten(packet.subarray(1), inWords)])
        : packet,
    ),
};

function inWords(line: Buffer): Buffer {
  let text = line.toString();
  for (const [gitea, forgejo] of WORDS) text = text.replace(gitea, forgejo);
  return Buffer.from(text);
}

function rewritten(bytes: Buffer, change: (payload: Buffer) => Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
    pieces.push(length > 4 ? pkt(change(bytes.subarray(at + 4, at + length))) : bytes.subarray(at, at + 4));
    at += Math.max(4, length);
  }
  return Buffer.concat(pieces);
}
