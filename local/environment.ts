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

export function say(message: string): void {
  process.stderr.write(`gitveil: ${message}\n`);
}

export function couldNotStart(error: unknown): string {
  return `could not start: ${error instanceof Error ? error.message : String(error)}`;
}
