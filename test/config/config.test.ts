/** Every variable: its default, what it accepts, and what it says to a value that it does not. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../src/config/environment-reader.ts';
import { accountLimits, type Config, localUrl, misspelt, parseConfig } from '../../src/config/config.ts';
import { OPEN_LIMIT_NAMES, OPEN_LIMITS } from '../../src/limits/limits.ts';
import { NEAR_VARIABLES, WELL_KNOWN_VARIABLES } from '../support/well-known-variables.ts';

function configOf(env: Record<string, unknown>): Config {
  const result = parseConfig(env);
  if (result.kind === 'invalid') throw new Error(result.problems.map(({ message }) => message).join('; '));
  return result.config;
}

function messagesOf(env: Record<string, unknown>): string[] {
  const result = parseConfig(env);
  return result.kind === 'invalid' ? result.problems.map(({ message }) => message) : [];
}

it('takes the places that Cloudflare has for objects, and no other', () => {
  expect(configOf({ LOCATION_HINT: 'weur' }).locationHint).toBe('weur');
  expect(messagesOf({ LOCATION_HINT: 'europe' })[0]).toMatch(
    /^LOCATION_HINT is "europe": it must be wnam or enam/,
  );
});

describe('parseConfig', () => {
  it('has a default for everything', () => {
    const defaults: Config = {
      hosts: [
        {
          key: 'gh',
          kind: 'github',
          url: 'https://github.com',
          apiUrl: 'https://api.github.com',
          token: null,
        },
      ],
      host: '127.0.0.1',
      port: 8080,
      stateDir: '.state',
      serviceUrl: 'http://127.0.0.1:8080',
      isServiceUrlGiven: false,
      onionUrl: null,
      bundleHash: null,
      readTimeoutMs: 30_000,
      writeTimeoutMs: 30_000,
      logFormat: 'text',
      clientIpHeader: 'CF-Connecting-IP',
      githubWebhookSecret: null,
      serviceApiKey: null,
      panicPassword: null,
      identitySecret: null,
      privateReports: 'off',
      introduce: 'first',
      signingKey: null,
      hostedDatabase: null,
      notifyBaseUrl: 'https://ntfy.sh',
      notifyAdminUrl: 'https://ntfy.sh',
      notifyToken: null,
      outgoingFetchHosts: [],
      allowedOrigins: null,
      notifyAdminTopic: null,
      alertAddress: 'shown',
      maxRepositoryMb: 500,
      spoolMb: 2000,
      publishDelayMs: 0,
      warningWaitMs: 10_000,
      whenBusy: 'refuse',
      review: 'none',
      delayedMb: 1_000,
      limits: {
        comments: [
          { most: 60, withinMs: 60_000 },
          { most: 240, withinMs: 3_600_000 },
        ],
        target: [{ most: 100, withinMs: 3_600_000 }],
        thread: [{ most: 240, withinMs: 3_600_000 }],
        pushes: [{ most: 60, withinMs: 60_000 }],
        discoveries: [{ most: 1200, withinMs: 60_000 }],
        lookUps: [{ most: 60, withinMs: 60_000 }],
        reports: [{ most: 30, withinMs: 3_600_000 }],
        calls: [{ most: 500, withinMs: 3_600_000 }],
        creations: [
          { most: 80, withinMs: 60_000 },
          { most: 500, withinMs: 3_600_000 },
        ],
        openings: [
          { most: 20, withinMs: 60_000 },
          { most: 150, withinMs: 3_600_000 },
        ],
      },
      identityCheck: 'refuse',
      pushSecrets: 'proven',
      pushDoubles: 'tell',
      prUpdatePolicy: 'hash',
      locationHint: null,
      anonEmail: 'anonymous@gitveil.invalid',
      operatorContact: null,
      commitHash: 'main',
      sourceRepo: 'https://github.com/gitveil/gitveil',
      officialInstance: false,
    };
    expect(configOf({})).toEqual(defaults);
    expect(configOf(Object.fromEntries(VARIABLES.map((name) => [name, ''])))).toEqual(defaults);
  });

  it('is frozen', () => {
    const config = configOf({ DB_URL: 'https://db.example.org', DB_KEY: 'k' });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.hostedDatabase)).toBe(true);
  });

  it('ignores what is not a variable of the service', () => {
    expect(configOf({ PATH: '/bin', DB: { prepare: 1 }, PORT: 9 })).toEqual(configOf({}));
  });

  it.each([
    ['30s', 30_000],
    ['1m', 60_000],
    ['500ms', 500],
    ['1h30m', 5_400_000],
    ['1h1m1s1ms', 3_661_001],
    ['24h', 86_400_000],
  ])('reads the duration %s', (text, milliseconds) => {
    expect(configOf({ READ_TIMEOUT: text, WRITE_TIMEOUT: text })).toMatchObject({
      readTimeoutMs: milliseconds,
      writeTimeoutMs: milliseconds,
    });
  });

  it.each([
    '30',
    '30sec',
    '0s',
    '-1s',
    '1.5h',
    '1s1m',
    '1s1s',
    ' 30s',
    '30s\n',
    '25h',
    's',
    '9'.repeat(400) + 's',
  ])('refuses the duration %j', (text) => {
    expect(messagesOf({ READ_TIMEOUT: text })).toEqual([
      expect.stringMatching(/^READ_TIMEOUT is ".*": it must be/),
    ]);
  });

  it.each([
    ['PORT', '70000', 'a whole number from 1 to 65535'],
    ['PORT', '0', 'a whole number from 1 to 65535'],
    ['PORT', '8080x', 'a whole number from 1 to 65535'],
    ['PORT', '1e3', 'a whole number from 1 to 65535'],
    ['LOG_FORMAT', 'xml', 'text or json'],
    ['WARNING_WAIT', '10', 'a duration from 0s to 60s'],
    ['WARNING_WAIT', '2m', 'a duration from 0s to 60s'],
    ['ALERT_ADDRESS', 'maybe', 'shown or hidden'],
    ['OFFICIAL_INSTANCE', 'yes', 'true or false'],
    ['OFFICIAL_INSTANCE', 'constructor', 'true or false'],
    ['MAX_REPOSITORY_MB', '0', 'a whole number from 1 to 100000'],
    ['CLIENT_IP_HEADER', 'X Real', 'the name of a header'],
    ['SPOOL_MB', '999', 'a whole number from 1000 to 1000000'],
    ['HOST', 'http://x', 'an IP address or host name'],
    ['COMMIT_HASH', 'a b', 'a commit id or the name of a branch'],
  ])('names variable, value and what is allowed: %s=%s', (name, value, allowed) => {
    expect(messagesOf({ [name]: value })).toEqual([`${name} is "${value}": it must be ${allowed}`]);
  });

  it('reports all problems at once', () => {
    expect(messagesOf({ PORT: '70000', LOG_FORMAT: 'xml', READ_TIMEOUT: '30sec' })).toHaveLength(3);
  });

  it('never repeats a secret', () => {
    const bad = 'hunter2\nhunter2';
    const names = [
      'HOSTING_TOKEN',
      'SERVICE_API_KEY',
      'DB_KEY',
      'NOTIFY_TOKEN',
      'PANIC_PASSWORD',
      'IDENTITY_SECRET',
    ];
    const messages = messagesOf(
      Object.fromEntries([...names, 'NOTIFY_ADMIN_TOPIC'].map((name) => [name, bad])),
    );
    expect(messages).toHaveLength(names.length + 1);
    expect(messages.join()).not.toContain('hunter2');
  });

  it('hides the password of an address and shortens a long value', () => {
    const [message] = messagesOf({ DB_URL: `https://user:hunter2@db.example.org/${'x'.repeat(500)}` });
    expect(message).toMatch(/^DB_URL is "https:\/\/\*\*\*@db\.example\.org\/x+…": it must be/);
    expect(message!.length).toBeLessThan(300);
  });
});

describe('further hosts', () => {
  const HOSTS = 'cb=forgejo:https://codeberg.org, my=gitea:http://git.example.org:3000/';

  it('come after the first, each with its own token', () => {
    const { hosts } = configOf({ HOSTS, HOSTING_TOKEN: 'first', HOSTING_TOKEN_MY: 'third' });
    expect(hosts.map(({ key, kind, token }) => [key, kind, token])).toEqual([
      ['gh', 'github', 'first'],
      ['cb', 'forgejo', null],
      ['my', 'gitea', 'third'],
    ]);
    expect(hosts[2]).toMatchObject({
      url: 'http://git.example.org:3000',
      apiUrl: 'http://git.example.org:3000/api/v1',
    });
  });

  it.each([
    ['a reserved key', 'gh=forgejo:https://codeberg.org'],
    ['a key that is a path of the service', 'pr=forgejo:https://codeberg.org'],
    ['the same key twice', 'cb=forgejo:https://a.example,cb=gitea:https://b.example'],
    ['the same address twice', 'a=forgejo:https://a.example,b=gitea:https://a.example/'],
    ['the same server twice', 'a=forgejo:https://a.example,b=gitea:http://a.example'],
    ['the server of the first host', 'a=forgejo:https://github.com'],
    ['a key with capitals', 'CB=forgejo:https://codeberg.org'],
    ['a kind that is unknown', 'gl=gitlab:https://gitlab.com'],
    ['a path', 'cb=forgejo:https://example.org/git'],
    ['a user and a password', 'cb=forgejo:https://u:hunter2@codeberg.org'],
    ['users and passwords', 'a=gitea:https://u:p@a.example,b=gitea:https://u:hunter2@b.example'],
    ['a password with a slash', 'a=gitea:https://u:/hunter2@a.example'],
    ['no address', 'cb=forgejo:'],
    ['an empty part', 'cb=forgejo:https://codeberg.org,'],
  ])('with %s are refused by name and number', (_, text) => {
    const [message = '', ...more] = messagesOf({ HOSTS: text });
    const last = text.split(',').length;
    const wrong = text.startsWith('a=gitea:https://u:p@') ? 1 : last;
    expect(message).toMatch(new RegExp(`\\. Number ${wrong} of the list is wrong$`));
    expect(more).toEqual([]);
    expect(message).toMatch(/^HOSTS is ".*": it must be up to 20 hosts/);
    expect(message).not.toContain('hunter2');
  });

  it('say so when a token has no host', () => {
    const result = parseConfig({ HOSTS, HOSTING_TOKEN_CD: 'x' });
    expect(result.kind === 'valid' && result.warnings).toEqual([
      {
        variable: 'HOSTING_TOKEN_CD',
        message: 'HOSTING_TOKEN_CD is set, but HOSTS names no host with that key',
      },
    ]);
  });

  it('never repeat a token', () => {
    expect(messagesOf({ HOSTS, HOSTING_TOKEN_CB: 'hunter2\n' })).toEqual([
      'HOSTING_TOKEN_CB must be printable ASCII without spaces or line breaks',
    ]);
  });
});

describe('addresses', () => {
  it.each([
    ['https://host.example.org/', 'https://host.example.org'],
    ['http://127.0.0.1:8081', 'http://127.0.0.1:8081'],
    ['https://example.org/git//', 'https://example.org/git'],
  ])('keeps %s without trailing slashes', (text, address) => {
    expect(configOf({ HOSTING_URL: text, HOSTING_API_URL: text, SERVICE_URL: text })).toMatchObject({
      hosts: [{ url: address, apiUrl: address }],
      serviceUrl: address,
    });
  });

  it.each([
    'example.org',
    'ftp://example.org',
    'https://u:p@example.org',
    'https://x/?a=1',
    'https://x/#',
    'https://x y',
  ])('refuses %s', (text) => expect(messagesOf({ NOTIFY_BASE_URL: text })).toHaveLength(1));

  it('takes the listening address for the public one unless told', () => {
    expect(configOf({ PORT: '9000' }).serviceUrl).toBe('http://127.0.0.1:9000');
    expect(localUrl('0.0.0.0', 80)).toBe('http://127.0.0.1:80');
    expect(localUrl('::1', 80)).toBe('http://[::1]:80');
  });
});

describe('ANON_EMAIL', () => {
  it.each(['nobody@example.org', 'a+b@localhost'])('accepts %s', (text) => {
    expect(configOf({ ANON_EMAIL: text }).anonEmail).toBe(text);
  });

  it.each(['nobody', 'a@', '@b', 'a b@c', 'a@b\nauthor Eve', 'a>@b', '<a@b>', 'a@b@c', 'a\0@b', 'a@-b'])(
    'refuses %j, which would not be safe in a commit header',
    (text) => expect(messagesOf({ ANON_EMAIL: text })).toHaveLength(1),
  );
});

describe('OUTGOING_FETCH_HOSTS', () => {
  it('is a list of host names', () => {
    const names = { OUTGOING_FETCH_HOSTS: 'ntfy.example.org, Git.Example.org,localhost' };
    expect(configOf(names).outgoingFetchHosts).toEqual(['ntfy.example.org', 'git.example.org', 'localhost']);
  });

  it.each(['https://example.org', 'example.org:443', 'a b', 'a,,b', 'a,', '*.example.org', '-a.example.org'])(
    'refuses %s',
    (text) => expect(messagesOf({ OUTGOING_FETCH_HOSTS: text })).toHaveLength(1),
  );
});

describe('ALLOWED_ORIGINS', () => {
  it('is a list of origins, or stands for all', () => {
    const list = 'https://Front-End.test, http://localhost:3000';
    expect(configOf({ ALLOWED_ORIGINS: list }).allowedOrigins).toEqual([
      'https://front-end.test',
      'http://localhost:3000',
    ]);
    expect(configOf({ ALLOWED_ORIGINS: '*' }).allowedOrigins).toBeNull();
  });

  it.each(['null', 'example.org', 'https://example.org/path', 'https://a.test,*', 'https://a.test,,'])(
    'refuses %s',
    (text) => expect(messagesOf({ ALLOWED_ORIGINS: text })).toHaveLength(1),
  );
});

describe('the hosted database', () => {
  it('needs both variables', () => {
    const DB_URL = 'https://db.example.org';
    expect(configOf({ DB_URL }).hostedDatabase).toBeNull();
    expect(configOf({ DB_KEY: 'k' }).hostedDatabase).toBeNull();
    expect(configOf({ DB_URL, DB_KEY: 'k' }).hostedDatabase).toEqual({ url: DB_URL, key: 'k' });
  });

  it.each([
    [
      { DB_URL: 'https://db.example.org' },
      'DB_KEY',
      /^DB_URL is set, but DB_KEY is not: .*; set both, or none$/,
    ],
    [{ DB_KEY: 'hunter2' }, 'DB_URL', /^DB_KEY is set, but DB_URL is not: /],
  ])('is warned of with only one of them: %o', (env, variable, message) => {
    const warning = { variable, message: expect.stringMatching(message) as string };
    expect(parseConfig(env)).toMatchObject({ kind: 'valid', warnings: [warning] });
    expect(JSON.stringify(parseConfig({ DB_KEY: 'hunter2' }))).not.toContain('hunter2');
  });

  it('is not warned of with both or none', () => {
    expect(parseConfig({})).toMatchObject({ warnings: [] });
    expect(parseConfig({ DB_URL: 'https://db.example.org', DB_KEY: 'k' })).toMatchObject({ warnings: [] });
  });
});

describe('a limit', () => {
  it.each([
    ['1/1s', [{ most: 1, withinMs: 1000 }]],
    [
      '3/1m30s, 10000/24h',
      [
        { most: 3, withinMs: 90_000 },
        { most: 10_000, withinMs: 86_400_000 },
      ],
    ],
  ])('may be %s', (text, limits) => {
    expect(configOf({ LIMIT_COMMENTS: text }).limits.comments).toEqual(limits);
  });

  it.each([
    '0/1m',
    '60',
    '60/1',
    '60/0s',
    '-1/1m',
    '1.5/1m',
    '10001/1m',
    '60/25h',
    '1/1m,',
    '1/1m;2/1h',
    'none',
    '-5',
    '0',
    '1e99',
    '1e99/1h',
    '5/hour/day',
    'Infinity/1h',
  ])('is not %s, and the problem says how one looks', (text) => {
    expect(messagesOf({ LIMIT_PUSHES: text })).toEqual([
      expect.stringMatching(/^LIMIT_PUSHES is ".*": it must be one to 4 limits .* such as 60\/1m,240\/1h/),
    ]);
  });

  it.each(OPEN_LIMIT_NAMES.map((name) => OPEN_LIMITS[name].variable))(
    'is named where it is none: %s',
    (variable) => {
      for (const nonsense of ['-5/1m', 'many', '0', '1e99', '5/hour/day'])
        expect(messagesOf({ [variable]: nonsense })).toEqual([
          expect.stringContaining(`${variable} is "${nonsense}": it must be one to 4 limits`),
        ]);
    },
  );

  it('of pull requests and issues counts at github.com, and at another host only where one is given', () => {
    const openings = (env: Record<string, string>) => configOf(env).limits.openings;
    const other = { HOSTING_URL: 'https://git.test' };
    const set = [{ most: 7, withinMs: 60_000 }];
    expect(openings({})).toHaveLength(2);
    expect(openings(other)).toEqual([]);
    expect(openings({ ...other, LIMIT_OPENINGS: '7/1m' })).toEqual(set);
    const config = configOf({ LIMIT_OPENINGS: '7/1m', HOSTS: 'cb=forgejo:https://codeberg.org' });
    expect(config.hosts.map((host) => accountLimits(config, host).openings)).toEqual([set, []]);
  });

  it('of what the bot account creates is within an hour at most, as it is counted no longer', () => {
    expect(configOf({ LIMIT_CREATIONS: '9/60m' }).limits.creations).toEqual([
      { most: 9, withinMs: 3_600_000 },
    ]);
    expect(messagesOf({ LIMIT_CREATIONS: '500/24h' })).toEqual([
      'LIMIT_CREATIONS is "500/24h": it must be one to 4 limits separated by commas, such as 60/1m,240/1h: ' +
        'counts from 1 to 10000, each within a duration of at most 1h',
    ]);
  });
});

describe('the configuration', () => {
  it('warns of alerts whose buttons lead nowhere', () => {
    const topic = { NOTIFY_ADMIN_TOPIC: 'ops' };
    expect(parseConfig(topic)).toMatchObject({
      warnings: [
        {
          variable: 'SERVICE_URL',
          message:
            'SERVICE_URL is not set: the buttons of alerts call http://127.0.0.1:8080, which works on this machine only',
        },
      ],
    });
    expect(parseConfig({ ...topic, SERVICE_URL: 'http://localhost:8080' })).toMatchObject({ warnings: [] });
  });

  it('warns of a password that can be guessed, and does not repeat it', () => {
    expect(parseConfig({ PANIC_PASSWORD: 'fifteen letters' })).toMatchObject({
      kind: 'valid',
      warnings: [
        {
          variable: 'PANIC_PASSWORD',
          message:
            'PANIC_PASSWORD has fewer than 16 characters: it can be guessed; set a longer one, for example the output of `openssl rand -hex 32`',
        },
      ],
    });
    expect(parseConfig({ PANIC_PASSWORD: 'sixteen letters!' })).toMatchObject({ warnings: [] });
    expect(parseConfig({ PANIC_PASSWORD: '' })).toMatchObject({ warnings: [] });
  });

  it.each([
    ['op@example.org', 'mailto:op@example.org'],
    ['o?p&x@example.org', 'mailto:o%3Fp%26x@example.org'],
    ['https://example.org/contact/', 'https://example.org/contact'],
  ])('takes %s as the way to reach the operator', (OPERATOR_CONTACT, url) => {
    expect(configOf({ OPERATOR_CONTACT }).operatorContact?.url).toBe(url);
  });

  it.each(['nobody', 'http://example.org', 'javascript:alert(1)', 'a@b c', 'Op <op@example.org>'])(
    'does not take %s as the way to reach the operator',
    (OPERATOR_CONTACT) => {
      expect(messagesOf({ OPERATOR_CONTACT })[0]).toMatch(/: it must be an e-mail address such as /);
    },
  );

  describe('warns if nobody can be written to', () => {
    const warned = { kind: 'valid', warnings: [{ variable: 'OPERATOR_CONTACT' }] };
    it.each([{ SERVICE_URL: 'https://veil.test' }, { HOST: '0.0.0.0', CLIENT_IP_HEADER: 'X-Real-IP' }])(
      'and others may use the service: %o',
      (env) => {
        expect(parseConfig(env)).toMatchObject(warned);
        expect(parseConfig({ ...env, OPERATOR_CONTACT: 'op@veil.test' })).toMatchObject({ warnings: [] });
      },
    );

    it('but not on this machine', () => {
      expect(parseConfig({ SERVICE_URL: 'http://localhost:8080' })).toMatchObject({ warnings: [] });
      expect(parseConfig({ SERVICE_URL: 'http://[::1]:8080', HOST: '::1' })).toMatchObject({ warnings: [] });
    });
  });

  describe('warns of a misspelt variable', () => {
    const HOSTS = 'my=gitea:https://git.example.org';

    it.each([
      ['HSTING_TOKEN', 'HOSTING_TOKEN'],
      ['PANIC_PASWORD', 'PANIC_PASSWORD'],
      ['SERVCE_URLS', 'SERVICE_URL'],
      ['CLIENT-IP-HEADER', 'CLIENT_IP_HEADER'],
      ['service_url', 'SERVICE_URL'],
      ['SERVICE_URI', 'SERVICE_URL'],
      ['HOSTING_API_URI', 'HOSTING_API_URL'],
      ['HOSTNG_TOKEN_MY', 'HOSTING_TOKEN_MY'],
    ])('%s, and names %s', (name, meant) => {
      const message = `${name} is set, but there is no such variable: did you mean ${meant}? Rename it, or unset it`;
      expect(parseConfig({ HOSTS, [name]: 'a value' })).toMatchObject({
        warnings: [{ variable: meant, message }],
      });
      expect(JSON.stringify(parseConfig({ HOSTS, [name]: 'a value' }))).not.toContain('a value');
      expect(parseConfig({ HOSTS, [name]: '' })).toMatchObject({ warnings: [] });
      expect(parseConfig({ HOSTS, [name]: { get: 'a binding' } })).toMatchObject({ warnings: [] });
    });

    it.each([
      ['right ones', VARIABLES],
      ['short ones', ['HOME', 'PORTS', 'HOSTT', 'DB_URI', 'DB_KEYS']],
      ['those of others', WELL_KNOWN_VARIABLES],
      ['those of others that are near', NEAR_VARIABLES],
      ['those of this machine', Object.keys(process.env)],
    ])('but not of %s', (_, names) => {
      const env = Object.fromEntries(names.map((name) => [name, 'a value']));
      expect(misspelt(env, configOf({ HOSTS }).hosts)).toEqual([]);
    });
  });

  it('wants SERVICE_URL beside ONION_URL, which is of version 3', () => {
    const ONION_URL = `http://${'a2b3'.repeat(14)}.onion`;
    expect(messagesOf({ ONION_URL })).toEqual([
      expect.stringMatching(/^SERVICE_URL must be set beside ONION_URL/),
    ]);
    expect(configOf({ ONION_URL: `${ONION_URL}/`, SERVICE_URL: 'https://veil.example' })).toMatchObject({
      onionUrl: ONION_URL,
    });
    for (const wrong of ['http://veil.example', `${ONION_URL}/path`, 'http://expyuzz4wqqyqhjn.onion']) {
      expect(messagesOf({ ONION_URL: wrong, SERVICE_URL: 'https://veil.example' })).toEqual([
        expect.stringMatching(/^ONION_URL is ".*": it must be the http address of an onion service/),
      ]);
    }
  });

  it('warns of limits that a client can evade, where others than this machine may connect', () => {
    const OPERATOR_CONTACT = 'op@example.org';
    expect(parseConfig({ HOST: '0.0.0.0', OPERATOR_CONTACT })).toMatchObject({
      warnings: [
        { variable: 'CLIENT_IP_HEADER', message: expect.stringMatching(/CF-Connecting-IP/) as string },
      ],
    });
    const isKnown = { HOST: '0.0.0.0', CLIENT_IP_HEADER: 'X-Real-IP', OPERATOR_CONTACT };
    expect(parseConfig(isKnown)).toMatchObject({ warnings: [] });
    for (const HOST of ['127.0.0.1', 'localhost', '::1']) {
      expect(parseConfig({ HOST })).toMatchObject({ warnings: [] });
    }
  });
});

describe('a GitHub App', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const GITHUB_APP_KEY = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();

  it('is read with its key, for GitHub alone', () => {
    const HOSTS = 'cb=forgejo:https://codeberg.org';
    const [main, other] = configOf({ GITHUB_APP_ID: '17', GITHUB_APP_KEY, HOSTS }).hosts;
    expect(main.app?.id).toBe(17);
    expect(other).not.toHaveProperty('app');
  });

  it.each([
    [{ GITHUB_APP_ID: '17' }, 'GITHUB_APP_KEY must be set beside GITHUB_APP_ID'],
    [{ GITHUB_APP_KEY }, 'GITHUB_APP_ID must be set beside GITHUB_APP_KEY'],
    [{ PRIVATE_REPORTS: 'app' }, 'GITHUB_APP_ID must be set for PRIVATE_REPORTS=app'],
  ])('needs both of its variables: %#', (env, message) => {
    expect(messagesOf(env)).toEqual([message]);
  });

  it('says once what is wrong with a key, and never shows it', () => {
    const cipher = { cipher: 'aes-256-cbc', passphrase: 'secret' };
    const locked = privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }).toString();
    const [message = '', ...others] = messagesOf({ GITHUB_APP_ID: '17', GITHUB_APP_KEY: locked });
    expect(message).toMatch(
      /^GITHUB_APP_KEY must be the text of .*\. It is encrypted\. Decrypt it with `openssl/,
    );
    expect([others, message.includes(locked.slice(40, 80))]).toEqual([[], false]);
  });
});
