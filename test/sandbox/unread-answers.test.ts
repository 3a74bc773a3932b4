/** Clients that leave an answer unread and go: no program of the host outlives them, and its end waits for none. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GitHttp } from '../../sandbox/git-http.ts';
import type { Host } from '../../sandbox/host.ts';
import { commitFile, Workshop } from './support/git.ts';

const workshop = new Workshop();
let path: string;
let wanted: string;

beforeAll(async () => {
  path = await workshop.workTree();
  // More than an answer holds, and less than a pipe: git has written it all, and ends.
  wanted = await commitFile(path, 'noise', randomBytes(60_000), 'Noise');
});
afterAll(() => workshop.remove());

/** A client that takes no byte. */
const silent = () => new Duplex({ read() {}, write() {} }) as unknown as Socket;

async function ask(host: GitHttp) {
  const socket = silent();
  const request = new IncomingMessage(socket);
  request.push(`0032want ${wanted}\n00000009done\n`);
  request.push(null);
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  return { response, handled: host.handle(request, response, new URL('http://x/octo/any/git-upload-pack')) };
}

function makeHost(): GitHttp {
  const repository = { owner: 'octo', name: 'any', issues: [] };
  const store = { findRepository: () => repository };
  return new GitHttp({ store, canRead: () => true, pathOf: () => path } as unknown as Host);
}

/** How many programs of the host are running. */
function programs(): number {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(commandOf).filter((command) => command.includes('upload-pack') && command.includes(path))
    .length;
}

function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

describe('a client that goes', () => {
  it('after its program has ended, which nobody has read, is not waited for', async () => {
    const host = makeHost();
    const { response, handled } = await ask(host);
    await handled;
    await expect.poll(programs).toBe(0);
    response.destroy();
    await host.close();
  });

  it('before its program is started, leaves none behind', async () => {
    const host = makeHost();
    const { response, handled } = await ask(host);
    response.destroy();
    await handled;
    await expect.poll(programs).toBe(0);
    await host.close();
  });
});
