/** What makes a service run otherwise than its operator may expect. */
import { nearName } from '../near-name.ts';
import { type AnyVariable, VARIABLES, variablesIn } from './environment-reader.ts';
import { type HostConfig, isHostTokenVariable, tokenVariable } from './hosts.ts';

/** Shorter names, such as HOME and HOST, are often near each other by chance. */
const LEAST_MISSPELT_LENGTH = 8;

/** Words near those of our names. A name that has one is spelt as it was meant, such as NOTION_TOKEN or STATIC_DIR. */
const OTHER_WORDS: ReadonlySet<string> = new Set(
  (
    'BASIC HEAD LOAD NETLIFY NOTION READY REF REPOS REV ROUTING STAGE START STATIC STATS STORE TESTING ' +
    'UID WAIT'
  ).split(' '),
);

/** The service runs, but perhaps not as the operator expects. */
export interface ConfigWarning {
  /** The one to set. */
  readonly variable: AnyVariable;
  readonly message: string;
}

/** A key that was mistyped would leave its host without a bot. */
export function strayTokens(
  env: Readonly<Record<string, unknown>>,
  hosts: readonly HostConfig[],
): readonly ConfigWarning[] {
  const wanted = new Set<string>(hosts.map(({ key }) => tokenVariable(key)));
  return Object.keys(env)
    .filter(isHostTokenVariable)
    .filter((name) => !wanted.has(name))
    .map((variable) => ({ variable, message: `${variable} is set, but HOSTS names no host with that key` }));
}

/** A misspelt variable has no effect, and nothing else would tell: a misspelt PANIC_PASSWORD leaves no way to panic. */
export function misspelt(
  env: Readonly<Record<string, unknown>>,
  hosts: readonly HostConfig[],
): readonly ConfigWarning[] {
  const names: readonly AnyVariable[] = [...VARIABLES, ...hosts.map(({ key }) => tokenVariable(key))];
  const known = names.filter(({ length }) => length >= LEAST_MISSPELT_LENGTH);
  const own = new Set(variablesIn(env));
  return Object.entries(env).flatMap(([name, value]) => {
    // The entries that are no text are bindings.
    if (own.has(name) || name.length < LEAST_MISSPELT_LENGTH || typeof value !== 'string' || value === '')
      return [];
    if (name.split('_').some((word) => OTHER_WORDS.has(word))) return [];
    const near = nearName(name, known);
    const variable = known.find((one) => one === near);
    if (variable === undefined) return [];
    const message = `${name} is set, but there is no such variable: did you mean ${variable}? Rename it, or unset it`;
    return [{ variable, message }];
  });
}

export function halfDatabase(isUrlMissing: boolean): ConfigWarning {
  const [set, variable] = isUrlMissing ? (['DB_KEY', 'DB_URL'] as const) : (['DB_URL', 'DB_KEY'] as const);
  const consequence = "statistics and karma stay in the service's own database";
  return { variable, message: `${set} is set, but ${variable} is not: ${consequence}; set both, or none` };
}

export function deadButtons(url: string): ConfigWarning {
  const message = `SERVICE_URL is not set: the buttons of alerts call ${url}, which works on this machine only`;
  return { variable: 'SERVICE_URL', message };
}

export function guessablePassword(): ConfigWarning {
  const remedy = 'it can be guessed; set a longer one, for example the output of `openssl rand -hex 32`';
  return { variable: 'PANIC_PASSWORD', message: `PANIC_PASSWORD has fewer than 16 characters: ${remedy}` };
}

/** People who are named, maintainers who object and those who find a weakness all need somebody to write to. */
export function nobodyToWriteTo(): ConfigWarning {
  const remedy = 'set it to an e-mail address or to the https address of a page';
  const message = `OPERATOR_CONTACT is not set: nobody can find out how to reach you; ${remedy}`;
  return { variable: 'OPERATOR_CONTACT', message };
}

/** On Cloudflare a client cannot set this header. Elsewhere anyone who connects can set it. */
export function evadedLimits(host: string, header: string): ConfigWarning {
  const danger = `anyone who connects to ${host} can write any address into ${header} and so avoid every limit`;
  const remedy = 'set it to the header in which your proxy writes the address';
  return { variable: 'CLIENT_IP_HEADER', message: `CLIENT_IP_HEADER is not set: ${danger}; ${remedy}` };
}
