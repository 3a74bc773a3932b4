/** Connects the programs of `npm start` with the terminal: variables, messages, signals. */
import { variablesIn } from '../src/config/environment-reader.ts';

/** The signals by which a person or the system asks a program to end. */
export const END_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export function isEndSignal(signal: NodeJS.Signals | null): boolean {
  return signal !== null && END_SIGNALS.includes(signal);
}

/** The service's variables as the environment sets them; an empty one counts as absent. */
export function variables(): Record<string, string> {
  const entries = variablesIn(process.env).map((name) => [name, process.env[name] ?? ''] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** Whether everything that is printed must be JSON. */
export const isJsonLog = process.env['LOG_FORMAT'] === 'json';

/** Writes a message of the service's own programs to the log. */
export function say(message: string, level: 'warn' | 'error' = 'error'): void {
  passOn(isJsonLog ? message : `gitveil: ${level === 'warn' ? 'warning: ' : ''}${message}`, level);
}

/**
 * Writes text to the log, which is standard output (contract, section 1). The text may have several
 * lines; in JSON it becomes one line like those of src/log.ts.
 * @param level a level of ours, or one that only workerd has.
 */
export function passOn(message: string, level: string): void {
  const line = {
    timestamp: new Date().toISOString(),
    level: ['info', 'warn'].includes(level) ? level : 'error',
    message,
    privacy: 'anonymized',
  };
  process.stdout.write(`${isJsonLog ? JSON.stringify(line) : message}\n`);
}

/**
 * Says why a command fails, and makes it end with 1. Writes to standard error, because standard
 * output is for the result.
 */
export function complain(message: string): void {
  process.exitCode = 1;
  process.stderr.write(`gitveil: ${message}\n`);
}

/**
 * Says how a command gets the variables of the service on a machine of one's own, where they stand
 * in a file (docs/deploy.md).
 */
export function withVariables(command: string): string {
  return `As root, with the variables of a service on this machine: (set -a; . /etc/gitveil.env; ${command})`;
}

export function couldNotStart(error: unknown): string {
  return `could not start: ${error instanceof Error ? error.message : String(error)}`;
}
