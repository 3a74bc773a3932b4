/**
 * Requests under the old name of a repository that was renamed, by clients that keep posting to it
 * although discovery has led them to the new one: isomorphic-git does.
 */
import fs, { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { add, clone, commit, type HttpClient, push, resolveRef } from 'isomorphic-git';
import { request as httpRequest } from 'isomorphic-git/http/node';
import { describe, expect, it } from 'vitest';
import { prKeyOf } from '../../../src/secret/keyed-hash.ts';
import type { Person } from '../support/person.ts';
import { makeSoundPush, REF } from '../support/sound-push.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { pushBody, sendPush } from '../support/wire.ts';
import { buildPack } from '../../support/pack-builder.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const SECRET = 'a secret that is long enough for this';
const bed = useOwnTestBed({ env: { IDENTITY_SECRET: SECRET } });

const rename = (upstream: Upstream) => bed.renameUpstream(upstream, `${upstream.name}-renamed`);

/**
 * isomorphic-git's own HTTP client, behind a network that tells of the person as a real one may.
 */
const httpOf = (person: Person): HttpClient => ({
  request: (request) =>
    httpRequest({
      ...request,
      headers: { ...request.headers, ...person.headers, 'user-agent': person.userAgent },
    }),
});

describe('isomorphic-git', exhaustive, () => {
  it('clones by the old name, and its push to it opens a pull request under the new one', async () => {
    const upstream = await bed.createUpstream();
    const renamed = rename(upstream);
    const person = bed.person();
    const dir = mkdtempSync(join(person.home, 'isomorphic-'));
    person.repositories.push(dir);
    const remote = { fs, http: httpOf(person), dir, url: upstream.url };
    await clone({ ...remote, singleBranch: true });
    expect(await resolveRef({ fs, dir, ref: 'HEAD' })).toBe(await renamed.tip());

    fs.writeFileSync(join(dir, 'mine.txt'), 'mine\n');
    await add({ fs, dir, filepath: 'mine.txt' });
    const identity = { name: person.authorName, email: person.authorEmail, timestamp: person.nextDate() };
    await commit({ fs, dir, message: 'By the old name\n', author: identity });
    const messages: string[] = [];
    const pushed = await push({
      ...remote,
      ref: 'main',
      remoteRef: REF,
      onMessage: (message) => void messages.push(message),
    });
    expect(pushed.ok).toBe(true);
    const pull = await bed.host.onlyPull(renamed);
    expect(messages.join('')).toContain(pull.url);
    // The command that updates it names the repository as it is called now.
    expect(messages.join('')).toContain(`${renamed.url} HEAD:${REF}`);
  });
});

describe('a push by hand to the old name', () => {
  it('becomes a pull request, and is withdrawn there, too', async () => {
    const { upstream, person, tip, entries } = await makeSoundPush(bed);
    const renamed = rename(upstream);
    const body = pushBody({ commands: [{ newId: tip, ref: REF }], pack: buildPack(entries).bytes });
    const { report } = readReport((await sendPush(upstream.url, person, body)).body);
    expect(report).toEqual(['unpack ok', `ok ${REF}`]);
    const { number, head } = await bed.host.onlyPull(renamed);
    const prHash = head.replace(/^.*:anon-/, '');
    const withdrawal = pushBody({
      commands: [{ oldId: tip, newId: '0'.repeat(40), ref: REF }],
      options: [`pr-hash=${prHash}`, `pr-key=${prKeyOf(SECRET, prHash)}`],
      pack: Buffer.alloc(0),
    });
    expect(readReport((await sendPush(upstream.url, person, withdrawal)).body).report).toEqual([
      'unpack ok',
      `ok ${REF}`,
    ]);
    expect(await bed.host.pulls(renamed)).toMatchObject([{ number, state: 'closed' }]);
  });
});
