/** The variables of the service, and how one environment is read: what it sets, and what is wrong with that. */
import { type HostTokenVariable, isHostTokenVariable } from './hosts.ts';
import type { ValueKind } from './values.ts';

const PLAIN = [
  'ALERT_ADDRESS',
  'ALLOWED_ORIGINS',
  'ANON_EMAIL',
  'BUNDLE_HASH',
  'CLIENT_IP_HEADER',
  'COMMIT_HASH',
  'DB_URL',
  'DELAYED_MB',
  'HOST',
  'HOSTS',
  'HOSTING_API_URL',
  'HOSTING_URL',
  'IDENTITY_CHECK',
  'PUSH_SECRETS',
  'LIMIT_COMMENTS',
  'LIMIT_CALLS',
  'LIMIT_CREATIONS',
  'LIMIT_DISCOVERIES',
  'LIMIT_LOOKUPS',
  'LIMIT_PUSHES',
  'LIMIT_REPORTS',
  'LIMIT_TARGET',
  'LIMIT_THREAD',
  'LOCATION_HINT',
  'LOG_FORMAT',
  'MAX_REPOSITORY_MB',
  'NOTIFY_ADMIN_URL',
  'NOTIFY_BASE_URL',
  'OFFICIAL_INSTANCE',
  'ONION_URL',
  'OPERATOR_CONTACT',
  'OUTGOING_FETCH_HOSTS',
  'PORT',
  'PR_UPDATE_POLICY',
  'PUBLISH_DELAY',
  'PUSH_DOUBLES',
  'READ_TIMEOUT',
  'REVIEW',
  'SERVICE_URL',
  'SOURCE_REPO',
  'SPOOL_MB',
  'STATE_DIR',
  'WHEN_BUSY',
  'WRITE_TIMEOUT',
] as const;

/** Their values never appear in a message. Anybody who knows the admin topic can read the operator's alerts. */
const SECRETS = [
  'DB_KEY',
  'HOSTING_TOKEN',
  'IDENTITY_SECRET',
  'NOTIFY_ADMIN_TOPIC',
  'NOTIFY_TOKEN',
  'PANIC_PASSWORD',
  'SERVICE_API_KEY',
] as const;

/** Everything that the environment may set. Its other entries (bindings, the shell's own) are not looked at. */
export const VARIABLES = [...PLAIN, ...SECRETS];
export type VariableName = (typeof VARIABLES)[number];
/** Each further host brings a variable of its own. */
export type AnyVariable = VariableName | HostTokenVariable;

/** The names of all variables of the service that an environment sets. */
export function variablesIn(env: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(env).filter(
    (name) => VARIABLES.some((known) => known === name) || isHostTokenVariable(name),
  );
}

/** A variable that cannot be used. `rule` does not contain the value, so a public answer may show it. */
export interface ConfigProblem {
  readonly variable: string;
  readonly rule: string;
  readonly message: string;
}

/** Reads one environment and remembers what is wrong with it. */
export class EnvironmentReader {
  readonly problems: ConfigProblem[] = [];
  readonly #env: Readonly<Record<string, unknown>>;

  constructor(env: Readonly<Record<string, unknown>>) {
    this.#env = env;
  }

  /** The variable's value; `fallback` when it is absent, and also when it is bad, which is then a problem. */
  read<T, F>(name: AnyVariable, kind: ValueKind<T>, fallback: F): T | F {
    const text = this.#env[name];
    if (typeof text !== 'string' || text === '') return fallback;
    const value = kind.parse(text);
    if (value === undefined) {
      this.#report(
        name,
        text,
        kind.faultIn === undefined ? kind.rule : `${kind.rule}. ${kind.faultIn(text)}`,
      );
    }
    return value ?? fallback;
  }

  /** Reports that `variable` is absent, but has to be there. @param why follows its name in the sentence. */
  miss(variable: AnyVariable, why: string): void {
    this.problems.push({ variable, rule: why, message: `${variable} ${why}` });
  }

  #report(variable: AnyVariable, text: string, allowed: string): void {
    const isSecret = SECRETS.some((name) => name === variable) || isHostTokenVariable(variable);
    const subject = isSecret ? variable : `${variable} is ${quoted(text)}: it`;
    const rule = `must be ${allowed}`;
    this.problems.push({ variable, rule, message: `${subject} ${rule}` });
  }
}

/** A value as a message may show it: on one line, short, and without the passwords that its addresses carry. */
function quoted(text: string): string {
  const shown = text.replaceAll(/\/\/[^,]*@/g, '//***@');
  return JSON.stringify(shown.length > 100 ? `${shown.slice(0, 100)}…` : shown);
}
