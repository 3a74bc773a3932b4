/**
 * Messages are kept byte for byte, but for ids of the push's own commits; people get to read them
 * in the pull request.
 */
import { describe, expect, it } from 'vitest';
import { keepsMessage } from '../shapes/messages.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { useTestBed } from '../support/test-bed.ts';

const bed = useTestBed();

describe('a message', () => {
  it.each<[what: string, message: string | Buffer, title: string, body: string]>([
    ['with CRLF line ends', 'Title\r\n\r\nText\r\nmore\r\n', 'Title', 'Text\r\nmore'],
    ['that looks like commit headers', 'tree x\nauthor y\n\ngpgsig z\n', 'tree x', 'author y\n\ngpgsig z'],
    ['with bytes that are no UTF-8', Buffer.from('54c3280a0aff0afe0a', 'hex'), 'T\ufffd(', '\ufffd\n\ufffd'],
  ])('%s is kept', (_, message, title, body) => keepsMessage(bed, message, title, body));

  it('may name people: it is the one thing that is kept as it was written', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    await clone.commit({
      message: `Fix it\n\nSigned-off-by: ${person.authorName} <${person.authorEmail}>\n`,
    });
    bed.tripwire.tolerate(
      'a message is kept byte for byte',
      ({ secret, where }) =>
        ['name', 'email', 'word'].includes(secret.kind) &&
        /: commit |pulls: body|git-receive-pack: body/.test(where),
    );
    const { pull } = await expectAccepted(
      bed,
      contribution,
      await clone.push('-o', 'publish-names', 'origin', 'HEAD:topic'),
    );
    expect(pull.body).toContain(person.authorName);
  });
});
