/** The two formats, and that nothing of a person gets through. */
import { describe, expect, it } from 'vitest';
import { HostError } from '../src/words/host-error.ts';
import { type LogFields, createLogger } from '../src/log.ts';

const NOON = new Date('2026-11-01T12:00:00Z');

function logged(format: 'text' | 'json', fields?: LogFields): string {
  const lines: string[] = [];
  createLogger(
    format,
    (line) => lines.push(line),
    () => NOON,
  ).info('push finished', fields);
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

describe('createLogger', () => {
  it('writes one JSON object a line, with the four fields of the contract', () => {
    expect(JSON.parse(logged('json', { outcome: 'opened', durationMs: 12 }))).toEqual({
      timestamp: '2026-11-01T12:00:00.000Z',
      level: 'info',
      message: 'push finished',
      privacy: 'anonymized',
      outcome: 'opened',
      durationMs: 12,
    });
  });

  it('writes text', () => {
    expect(logged('text', { step: 'fork', status: 202 })).toBe(
      '2026-11-01T12:00:00.000Z info push finished step=fork status=202',
    );
    expect(logged('text')).toBe('2026-11-01T12:00:00.000Z info push finished');
  });

  it('names the level', () => {
    const lines: string[] = [];
    const logger = createLogger('json', (line) => lines.push(line));
    logger.info('a');
    logger.warn('b');
    logger.error('c');
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual([
      'info',
      'warn',
      'error',
    ]);
  });

  it.each([
    '192.0.2.7',
    '2001:db8::7',
    'ada@example.org',
    'Mozilla/5.0 (X11)',
    'git/2.39.5',
    'a b',
    'a\nb',
    'x'.repeat(99),
  ])('redacts a text that is not a plain word: %j', (text) => {
    expect(logged('text', { step: text, outcome: text })).toMatch(/ step=redacted outcome=redacted$/);
  });

  it('writes the class of an error and never its message', () => {
    expect(logged('text', { error: new TypeError('ada@example.org') })).toMatch(/finished error=TypeError$/);
    expect(logged('text', { error: 'ada@example.org' })).toMatch(/finished error=redacted$/);
  });

  it.each([
    'database or disk is full: SQLITE_FULL',
    'D1_ERROR: disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_WRITE)',
    'internal error; reference = 0nengm8cpej15l00i9aadu6s',
    'Internal error in Durable Object storage write caused object to be reset.',
  ])('says that nothing can be stored: %s', (message) => {
    const error = new Error(message);
    expect(logged('text', { error })).toMatch(/ error=StorageFailure$/);
    expect(logged('text', { error: new Error('busy', { cause: error }) })).toMatch(/ error=StorageFailure$/);
  });

  it.each(['Network connection lost.', 'UNIQUE constraint failed: rows.number: SQLITE_CONSTRAINT'])(
    'does not say so of another failure: %s',
    (message) => expect(logged('text', { error: new Error(message) })).toMatch(/ error=Error$/),
  );

  it('drops fields that it does not know', () => {
    const fields = { status: 'ada', userAgent: 'git/2.39.5' } as unknown as LogFields;
    expect(logged('text', fields)).toBe('2026-11-01T12:00:00.000Z info push finished');
  });

  it('does not compile with a message that was put together at run time', () => {
    const logger = createLogger('text', () => {});
    const name: string = 'Ada';
    // @ts-expect-error: a message is a literal of the source
    logger.info(name);
    // @ts-expect-error: the same with a text around it
    logger.info(`hello ${name}`);
    logger.info(name === 'Ada' ? 'one' : 'other');
    expect(name).toBe('Ada');
  });

  it('names the problem of a token', () => {
    expect(logged('text', { outcome: 'no-write:issue' })).toMatch(/ outcome=no-write:issue$/);
    for (const outcome of ['fe80:abcd:c', 'a:1', 'no-write:', 'a::b']) {
      expect(logged('text', { outcome })).toMatch(/ outcome=redacted$/);
    }
  });

  it.each(['127.0.0.1:3000', '[2001:db8::1]:3000', 'git.example.org'])(
    'names the configured host %s, and no other address',
    (hostName) => {
      const hostSays = `${hostName} is no gitea: http://${hostName}/api/v1 answers 192.0.2.7 with 404.`;
      expect(JSON.parse(logged('json', { hostName, hostSays }))).toMatchObject({
        hostName,
        hostSays: hostSays.replace('192.0.2.7', 'redacted'),
      });
      const others = `127.0.0.1:30001 http://me@${hostName}/ http://${hostName}/?a@b`;
      expect(logged('json', { hostName, hostSays: others })).toContain('"redacted redacted redacted"');
    },
  );

  it('names no host by anything else than a name', () => {
    expect(logged('text', { hostName: 'ada@example.org' })).toMatch(/ hostName=redacted$/);
  });

  it('holds the status of the host’s answer, once, if there was one', () => {
    const error = new HostError('unreachable', 'for the person', undefined, { status: 503 });
    expect(logged('text', { error, reason: 'fork' })).toMatch(/ error=HostError status=503 reason=fork$/);
    expect(JSON.parse(logged('json', { error }))).toMatchObject({ status: 503 });
    expect(logged('text', { error: new HostError('unreachable', 'for the person') })).toMatch(
      /error=HostError$/,
    );
    expect(logged('text', { error: Object.assign(new Error('x'), { status: 'ada' }) })).toMatch(
      /error=Error$/,
    );
  });

  it('holds what the host said to the bot account, without addresses', () => {
    const says = 'Suspended.\u0007 Ask me@host.test, 192.0.2.7 or 2001:db8::1';
    const told = { whose: 'ours', status: 403, says } as const;
    const error = new HostError('refused', 'for the person', undefined, told);
    const hostSays = 'Suspended. Ask redacted redacted or redacted (403)';
    expect(JSON.parse(logged('json', { error }))).toMatchObject({ error: 'HostError', hostSays });
    expect(logged('text', { error })).toContain(`hostSays="${hostSays}"`);
    expect(JSON.parse(logged('json', { hostSays: 'x'.repeat(400) }))).toMatchObject({
      hostSays: 'x'.repeat(300),
    });
  });
});
