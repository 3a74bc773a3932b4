/**
 * The service's log: few lines, and none about a person (contract section 1, "Logging"). The types
 * make a leak hard to write: a message must be a literal of the source, because a string made at
 * run time does not compile. Fields are numbers, plain words, or a code host's name and words;
 * anything else, such as an address, a path or a header, comes out as `redacted`, or not at all. An
 * error is logged by its class, its status and the host's words (`said`), but without its message,
 * which may quote a request.
 */
import { holdsAddress } from './words/host-text.ts';
import { isStorageFailure } from './storage-failure.ts';

/**
 * Accepts literals and unions of them. It refuses `string`, and templates that contain one, because
 * those have no fixed key.
 */
type FixedText<T extends string> = Record<string, 1> extends { [K in T]: 1 } ? never : T;

const NUMBERS = ['status', 'durationMs', 'bytes', 'objects', 'attempt'] as const;
/**
 * Fields that hold one word, as `WORD` matches it: a host's key, a refusal's code, the problem of a
 * token, the name of a variable but never its value.
 */
const WORDS = ['step', 'host', 'outcome', 'reason', 'variable'] as const;

type Texts = Partial<Record<(typeof WORDS)[number], string>>;

/** Fields that a line may have besides its message. */
export interface LogFields extends Texts, Partial<Record<(typeof NUMBERS)[number], number>> {
  /**
   * Name and port of a code host's server, as the operator has configured it. It may be an IP
   * address.
   */
  readonly hostName?: string;
  /** The code host's words about the bot account. They may contain `hostName`. */
  readonly hostSays?: string;
  /**
   * Anything that was thrown. The line gets the class of an error, its `status`, and its `said` as
   * `hostSays`; only `StorageFailure` for a failed disk, and `redacted` for what is no error.
   */
  readonly error?: unknown;
}

type Log = <const T extends string>(message: FixedText<T>, fields?: LogFields) => void;
export type Logger = Readonly<Record<'info' | 'warn' | 'error', Log>>;

/** Matches a word, or the problem of a token, such as `no-write:issue`. */
const WORD = /^(?=.{1,40}$)[A-Za-z][A-Za-z0-9_-]*(?:-write:[a-z]+|-read:[a-z]+)?$/;
/** Matches a server's name or address, with or without a port. */
const SERVER = /^[A-Za-z0-9.:[\]-]{1,259}$/;

/** Makes a logger that passes each finished line, without its line break, to `write`. */
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

/** Gives the safe form of a field; nothing if the field is unknown or has no value. */
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

/** Quotes a value that is more than one word. */
function plain(value: string | number): string {
  return typeof value === 'string' && value.includes(' ') ? JSON.stringify(value) : String(value);
}

/** Keeps the words in ASCII, and hides addresses other than the host's own. */
function safeSentence(value: string, hostName?: string): string {
  const words = value.match(/[\x21-\x7e]+/g) ?? [];
  const safe = words.map((word) => {
    // The host's own name, and addresses on it, may be shown: only what follows is examined.
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
