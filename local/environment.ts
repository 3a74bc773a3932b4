/** What the programs of `npm start` share with the terminal: variables, messages, signals. */
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

/** Whether all that is printed must be JSON. */
export const isJsonLog = process.env['LOG_FORMAT'] === 'json';

/** Prints a message of these programs on standard error. */
export function say(message: string, level: 'warn' | 'error' = 'error'): void {
  if (isJsonLog) passOn(message, level);
  else passOn(`gitveil: ${level === 'warn' ? 'warning: ' : ''}${message}`, level);
}

/** Prints what another program has said, on standard error. It may have several lines. */
export function passOn(message: string, level: string): void {
  process.stderr.write(`${isJsonLog ? jsonLine(message, level) : message}\n`);
}

/** A line of the service's log (src/log.ts). @param level also one that only workerd has. */
export function jsonLine(message: string, level: string): string {
  const known = ['info', 'warn'].includes(level) ? level : 'error';
  return JSON.stringify({
    timestamp: new Date().toISOString(),
    level: known,
    message,
    privacy: 'anonymized',
  });
}

export function couldNotStart(error: unknown): string {
  return `could not start: ${error instanceof Error ? error.message : String(error)}`;
}
