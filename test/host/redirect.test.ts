/**
 * Whether an answer comes from the server that was asked: every spelling of `Location` that could
 * be believed in part.
 */
import { describe, expect, it } from 'vitest';
import { HostError, MovedError } from '../../src/words/host-error.ts';
import { followMoves, notFollowed, type Redirect, redirectOf } from '../../src/host/redirect.ts';

const ASKED = 'https://host.test/octo/hello.git/info/refs?service=git-upload-pack';
const NEW = '/octo/new.git/info/refs?service=git-upload-pack';

function redirect(location: string | readonly string[], status = 301, asked = ASKED): Redirect {
  const headers = new Headers();
  for (const one of [location].flat()) headers.append('Location', one);
  return redirectOf(new URL(asked), new Response(null, { status, headers }));
}

/** The address that is followed, as text; else the kind. */
function target(...args: Parameters<typeof redirect>): string {
  const found = redirect(...args);
  return found.kind === 'same-origin' ? found.url.href : found.kind;
}

/** The name of another server; else the kind. */
function server(...args: Parameters<typeof redirect>): string {
  const found = redirect(...args);
  return found.kind === 'elsewhere' ? found.server : found.kind;
}

describe('a redirect to the server that was asked', () => {
  it.each([
    ['whole', `https://host.test${NEW}`],
    ['with its default port', `https://host.test:443${NEW}`],
    ['in capitals', `HTTPS://HOST.TEST${NEW}`],
    ['relative to its root', NEW],
    ['relative to its protocol', `//host.test${NEW}`],
    ['relative to what was asked', '../../new.git/info/refs?service=git-upload-pack'],
    ['with percent signs in the name of the server', `https://%68ost.test${NEW}`],
    ['with backslashes', String.raw`https:\\host.test\octo\new.git/info/refs?service=git-upload-pack`],
    ['with dots in its path', `https://host.test/x/..${NEW}`],
  ])('is followed: %s', (_, location) => {
    expect(target(location)).toBe(`https://host.test${NEW}`);
  });

  it('is followed where its name has letters of any script, however they are written', () => {
    const asked = 'https://xn--bcher-kva.test/octo/hello.git/info/refs';
    for (const name of ['xn--bcher-kva.test', 'XN--BCHER-KVA.test', 'b%C3%BCcher.test'])
      expect(target(`https://${name}/octo/new.git/info/refs`, 301, asked)).toBe(
        'https://xn--bcher-kva.test/octo/new.git/info/refs',
      );
  });

  it.each([301, 302, 303, 307, 308])('is one with the status %i', (status) => {
    expect(target(NEW, status)).toBe(`https://host.test${NEW}`);
  });

  it.each([200, 201, 204, 300, 304, 305, 306, 400, 404])('is none with the status %i', (status) => {
    expect(redirect(NEW, status)).toEqual({ kind: 'none' });
    expect(redirect('https://elsewhere.test/', status)).toEqual({ kind: 'none' });
  });
});

describe('a redirect to another server', () => {
  it.each([
    ['of another name', `https://elsewhere.test${NEW}`, 'elsewhere.test'],
    ['below its own name', `https://git.host.test${NEW}`, 'git.host.test'],
    ['whose name begins with it', `https://host.test.elsewhere.test${NEW}`, 'host.test.elsewhere.test'],
    ['whose name ends with a full stop', `https://host.test.${NEW}`, 'host.test.'],
    ['at another port', `https://host.test:8443${NEW}`, 'host.test:8443'],
    ['without TLS', `http://host.test${NEW}`, 'http://host.test'],
    ['without TLS at its port', `http://host.test:443${NEW}`, 'host.test:443'],
    ['relative to the protocol', '//elsewhere.test/octo/hello.git/info/refs', 'elsewhere.test'],
    ['relative to the protocol, with a short path', '//elsewhere/', 'elsewhere'],
    ['with three slashes', '///elsewhere.test/', 'elsewhere.test'],
    ['with backslashes', String.raw`\\elsewhere.test/`, 'elsewhere.test'],
    ['with backslashes behind the scheme', String.raw`https:\\elsewhere.test/`, 'elsewhere.test'],
    ['with letters of another script', 'https://xn--bcher-kva.test/', 'xn--bcher-kva.test'],
    ['with a name that looks alike', 'https://xn--hst-sna.test/', 'xn--hst-sna.test'],
    ['on this machine, by name', `https://localhost${NEW}`, 'localhost'],
    ['on this machine, by address', `https://127.0.0.1${NEW}`, '[removed]'],
    ['on this machine, by a number', `https://2130706433${NEW}`, '[removed]'],
    ['on this machine, by IPv6', `https://[::1]:8080${NEW}`, '[removed]'],
    ['whose name holds an address', 'https://host-203-0-113-77.elsewhere.test/', '[removed]'],
    ['to sign in', 'https://sso.elsewhere.test/login', 'sso.elsewhere.test'],
  ])('%s is not followed, and its name is told without addresses', (_, location, name) => {
    for (const status of [301, 302, 303, 307, 308]) expect(server(location, status)).toBe(name);
  });

  it('is one also from this machine to another port of it, and from plain HTTP to TLS', () => {
    const asked = 'http://localhost:3000/octo/hello.git/info/refs';
    expect(server('http://localhost:4000/octo/hello.git/info/refs', 301, asked)).toBe('localhost:4000');
    expect(server('http://127.0.0.1:3000/octo/hello.git/info/refs', 301, asked)).toBe('[removed]');
    expect(server('https://host.test/', 301, 'http://host.test/octo/hello.git/info/refs')).toBe(
      'https://host.test',
    );
  });
});

describe('an address that is none', () => {
  it.each([
    ['nothing', ''],
    ['a space', ' '],
    ['a user', `https://ada@host.test${NEW}`],
    ['a user and a password', `https://ada:secret@host.test${NEW}`],
    ['an empty password', `https://:@host.test${NEW}`],
    ['a user at another server', 'https://host.test@elsewhere.test/'],
    ['a user, relative to the protocol', `//ada@host.test${NEW}`],
    ['a user behind an encoded sign', `https://host.test%40elsewhere.test/`],
    ['a script', 'javascript:alert(1)'],
    ['data', 'data:text/html,x'],
    ['another protocol', `ftp://host.test${NEW}`],
    ['what is stored in a browser', `blob:https://host.test${NEW}`],
    ['a broken name', 'https://[bad/'],
    ['a port that is none', 'https://host.test:99999/'],
    ['a space in it', 'https://host.test/octo/new.git/info/refs other'],
    ['a tab in it', 'https://host\t.test/'],
    ['10 KB', `https://host.test/${'a'.repeat(10_240)}`],
    ['10 KB of another server', `https://${'a.'.repeat(5_120)}test/`],
  ])('is not followed: %s', (_, location) => {
    for (const status of [301, 307]) expect(redirect(location, status)).toEqual({ kind: 'unusable' });
  });

  it('is what several headers say, and what none says', () => {
    expect(redirect([NEW, NEW])).toEqual({ kind: 'unusable' });
    expect(redirect([`https://host.test${NEW}`, 'https://elsewhere.test/'])).toEqual({ kind: 'unusable' });
    expect(redirect([])).toEqual({ kind: 'unusable' });
  });
});

describe('a page to sign in', () => {
  it.each(['/login', '/login?return_to=%2Focto%2Fhello', '/user/login?redirect_to=x', '/users/sign_in'])(
    'at the same server is known: %s',
    (location) => {
      expect(redirect(location, 302)).toEqual({ kind: 'sign-in' });
      expect(redirect(`https://host.test${location}`, 302)).toEqual({ kind: 'sign-in' });
    },
  );

  it.each([
    '/octo/login.git/info/refs',
    '/repos/octo/login',
    '/login/hello.git/info/refs',
    '/repos/user/login',
  ])('is no repository that is called so: %s', (location) => {
    expect(target(location)).toBe(`https://host.test${location}`);
  });
});

const told = (found: Parameters<typeof notFollowed>[2], status = 301): HostError =>
  notFollowed('octo/hello', status, found);

describe('what is told of a redirect', () => {
  it('names the other server, and what to do, and is final only if it moved for good', () => {
    for (const status of [301, 308]) {
      const error = told({ kind: 'elsewhere', server: 'elsewhere.test' }, status);
      expect(error).toMatchObject({ code: 'refused', failure: { effect: 'none', lasts: 'final', status } });
      expect(error.publicMessage).toBe(
        'octo/hello has moved to another server: elsewhere.test. This service does not follow it there. ' +
          'Ask its maintainers for the new address, then: git remote set-url origin NEW-ADDRESS',
      );
    }
    for (const status of [302, 303, 307])
      expect(told({ kind: 'elsewhere', server: 'x.test' }, status)).toMatchObject({
        failure: { effect: 'none', lasts: 'moment', whose: 'theirs' },
      });
  });

  it.each([
    [{ kind: 'sign-in' }, 'The code host wants people to sign in before it shows octo/hello.'],
    [{ kind: 'unusable' }, 'The code host redirects octo/hello to an address that cannot be followed.'],
    [{ kind: 'circle' }, 'The code host redirects octo/hello from one address to the next.'],
  ] as const)('is a sentence: %o', (found, words) => {
    const error = told(found);
    expect(error.publicMessage).toBe(words);
    expect(error.failure).toMatchObject({ effect: 'none', lasts: 'moment', whose: 'theirs' });
  });
});

const named = (name: string) => ({ owner: 'octo', name });
/** A host that says of each name which one comes next. */
const host = (next: Readonly<Record<string, string>>) => {
  const asked: string[] = [];
  const ask = async ({ name }: { readonly name: string }): Promise<string> => {
    asked.push(name);
    const to = next[name];
    if (to !== undefined) throw new MovedError(named(to), 301);
    return `this is ${name}`;
  };
  return { asked, ask };
};

describe('a repository that was renamed', () => {
  it('is asked for under its new name, from name to name', async () => {
    const { asked, ask } = host({ a: 'b', b: 'c' });
    expect(await followMoves(named('a'), ask)).toEqual({ repository: named('c'), answer: 'this is c' });
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(await followMoves(named('x'), ask)).toEqual({ repository: named('x'), answer: 'this is x' });
  });

  it.each([
    ['in a circle', { a: 'b', b: 'a' }],
    ['without an end', { a: 'b', b: 'c', c: 'd', d: 'e', e: 'f', f: 'g', g: 'h' }],
  ])('%s is given up after a few', async (_, next) => {
    const { asked, ask } = host(next);
    const failed = followMoves(named('a'), ask);
    await expect(failed).rejects.toMatchObject({
      code: 'refused',
      failure: { status: 301, lasts: 'moment' },
    });
    await expect(failed).rejects.not.toBeInstanceOf(MovedError);
    expect(asked.length).toBeLessThanOrEqual(6);
  });

  it('is not asked again for any other reason', async () => {
    const failed = followMoves(named('a'), async () => {
      throw new HostError('missing', 'Not here.');
    });
    await expect(failed).rejects.toMatchObject({ code: 'missing' });
  });
});
