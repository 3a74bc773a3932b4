/**
 * The service's log: few lines, and none of them about a person (contract section 1, "Logging").
 * The interface makes a leak hard to write. A message must be a literal of the source: a string
 * made at run time does not compile. Fields must be plain words; anything else, such as an address,
 * an e-mail, a path or a header, comes out as `redacted`. Of an error its class and status are
 * logged, not its message, which may quote a request.
 */
import { holdsAddress } from './words/host-text.ts';
import { isStorageFailure } from './storage-failure.ts';

/**
 * Accepts literals and unions of them. A `string` or a template with one inside has no fixed key,
 * and is refused.
 */
type FixedText<T extends string> = Record<string, 1> extends { [K in T]: 1 } ? never : T;

const NUMBERS = ['status', 'durationMs', 'bytes', 'objects', 'attempt'] as const;
/**
 * Words of letters, digits, `-`, `_`: a host's key, a refusal's code, the name of a variable and
 * never its value.
 */
const WORDS = ['step', 'host', 'outcome', 'reason', 'variable'] as const;

type Texts = Partial<Record<(typeof WORDS)[number], string>>;

/** What a line may carry besides its message. */
export interface LogFields extends Texts, Partial<Record<(typeof NUMBERS)[number], number>> {
  /**
   * Name and port of a code host's server, as the operator has configured it. It may be an IP
   * address.
   */
  readonly hostName?: string;
  /**
   * What the code host said about the bot account, or is said about the host. May contain
   * `hostName`.
   */
  readonly hostSays?: string;
  /**
   * Whatever was thrown. Its class is written, or `StorageFailure`, its `status`, and `said` as
   * `hostSays`.
   */
  readonly error?: unknown;
}

type Log = <const T extends string>(message: FixedText<T>, fields?: LogFields) => void;
export type Logger = Readonly<Record<'info' | 'warn' | 'error', Log>>;

/** Also the problem of a token, such as `no-write:issue`. */
const WORD = /^(?=.{1,40}$)[A-Za-z][A-Za-z0-9_-]*(?:-write:[a-z]+|-read:[a-z]+)?$/;
/** With a port, also of IPv6. */
const SERVER = /^[A-Za-z0-9.:[\]-]{1,259}$/;

/** A logger that gives each finished line, without its line break, to `write`. */
export function createLogger(
  format: 'text' | 'json',
  write: (line: string) => void,
  now: () => Date = () => new Date(),
): Logger {
  const logAt =
    (level: keyof Logger): Log =>
    (message, fields = {}) => {
      const timestamp = now().toISOString();
      const details = Object.entries(fields).flatMap((field) => safeField(field, fields.hostName));
      if (format === 'json') {
        const line = { timestamp, level, message, privacy: 'anonymized', ...Object.fromEntries(details) };
        return write(JSON.stringify(line));
      }
      const texts = details.map(([name, value]) => `${name}=${plain(value)}`);
      write([timestamp, level, message, ...texts].join(' '));
    };
  return { info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

const isOneOf = (names: readonly string[], name: string): boolean => names.includes(name);

/** One field in its safe form; nothing if it has no value or is not a known field. */
function safeField([name, value]: [string, unknown], hostName?: string): [string, string | number][] {
  if (isOneOf(NUMBERS, name) && typeof value === 'number') return [[name, value]];
  if (isOneOf(WORDS, name) && typeof value === 'string') return [[name, safeWord(value)]];
  if (name === 'hostName' && typeof value === 'string')
    return [[name, SERVER.test(value) ? value : 'redacted']];
  if (name === 'hostSays' && typeof value === 'string') return [[name, safeSentence(value, hostName)]];
  if (name === 'error') {
    if (!(value instanceof Error)) return [[name, 'redacted']];
    if (isStorageFailure(value)) return [[name, 'StorageFailure']];
    const status = 'status' in value ? safeField(['status', value.status]) : [];
    const said = 'said' in value ? safeField(['hostSays', value.said]) : [];
    return [[name, safeWord(value.name)], ...status, ...said];
  }
  return [];
}

/** In quotes where it is more than a word. */
function plain(value: string | number): string {
  return typeof value === 'string' && value.includes(' ') ? JSON.stringify(value) : String(value);
}

/** Words in ASCII, without addresses other than the host's own. */
function safeSentence(value: string, hostName?: string): string {
  const words = value.match(/[\x21-\x7e]+/g) ?? [];
  const safe = words.map((word) => {
    // Of a word that is the host's name, or an address on it, only the rest counts.
    const [address = '', name] = /^(?:https?:\/\/)?([^/]+)/.exec(word) ?? [];
    const rest = name !== undefined && name === hostName ? word.slice(address.length) : word;
    return rest.includes('@') || holdsAddress(rest) ? 'redacted' : word;
  });
  return safe.join(' ').slice(0, 300);
}

const safeWord = (value: string): string => (WORD.test(value) ? value : 'redacted');

const writeLine = (line: string): void => console.log(line);
const LOGGERS = { text: createLogger('text', writeLine), json: createLogger('json', writeLine) };

export function loggerOf({ logFormat }: { readonly logFormat: 'text' | 'json' }): Logger {
  return LOGGERS[logFormat];
}
