/**
 * Asks the person before a push with warnings is published. Each door has its own way: Git waits,
 * a program gets the warnings as an answer and asks again with `yes`, a form has shown them before.
 */
import type { Clock } from '../isolate/clock.ts';
import { type Finding, linesOf, WARNING_CODES } from '../words/finding.ts';
import { Refusal } from './reply/refusal.ts';
import type { SideBandReply } from './reply/reply.ts';

export interface ConsentQuestion {
  /** All that judging has found, in the order in which it is told. Some of it warns. */
  readonly findings: readonly Finding[];
  /** Pushes the same again, with the codes of all warnings as the option `yes`. */
  readonly command: string;
}

export interface Consent {
  /** Whether the person has time to leave before a push with warnings is published. */
  readonly waits: boolean;
  /**
   * Returns when the person has agreed.
   * @param onWait is called before it waits, to release what others may need.
   * @returns false if nothing was told or waited for, because this door asks otherwise.
   * @throws Refusal if the person does not agree, or has not been asked yet.
   */
  ask(question: ConsentQuestion, onWait: () => Promise<void>): Promise<boolean>;
  /**
   * Looks once more, because after the wait the host may be slow while nothing is public yet.
   * @throws Refusal if a person who was made to wait has left.
   */
  stillThere(): void;
}

/** For doors that have shown the warnings before, or whose push nobody waits for. */
export const ASKED_BEFORE: Consent = { waits: false, ask: async () => false, stillThere() {} };

/** For doors with one answer to each request: it lists the warnings, and what to send again. */
export const ASKED_BY_ANSWER: Consent = {
  waits: false,
  ask({ findings, command }) {
    const lines = [
      'Nothing is public yet. To publish it with these warnings, send the same file again:',
      command,
    ];
    const also = findings.filter(({ severity }) => severity === 'warn');
    throw new Refusal('unconfirmed', 'its warnings are not confirmed', lines, { also });
  },
  stillThere() {},
};

/** The most warnings that are shown. Of more, only the number is. */
const MOST_SHOWN = 14;

/**
 * For Git: tells the warnings and waits, because a client cannot answer. Who leaves has said no.
 */
export class TimedConsent implements Consent {
  readonly #reply: SideBandReply;
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #departed: AbortSignal;
  /** Fires when a person who was asked has left; null: nobody was asked. */
  #left: AbortSignal | null = null;

  /**
   * @param waitMs 0: it does not wait.
   * @param departed fires when the client has left.
   */
  constructor(reply: SideBandReply, clock: Clock, waitMs: number, departed: AbortSignal) {
    this.#reply = reply;
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#departed = departed;
  }

  get waits(): boolean {
    return this.#waitMs > 0;
  }

  async ask({ findings, command }: ConsentQuestion, onWait: () => Promise<void>): Promise<boolean> {
    const reply = this.#reply;
    if (!this.waits || !reply.isRead) return false;
    await onWait();
    const seconds = Math.ceil(this.#waitMs / 1000);
    const { warn = [], say = [] } = Object.groupBy(findings, ({ severity }) => severity);
    await reply.note(
      ...linesOf(say),
      ...labelled(warn),
      '',
      `Publishing in ${seconds} seconds. Press Ctrl-C to stop: nothing is public yet.`,
      'To publish without waiting, run:',
      `  ${command}`,
    );
    this.#left = AbortSignal.any([this.#departed, reply.broken]);
    await this.#clock.sleep(this.#waitMs, this.#left);
    this.stillThere();
    await reply.note('');
    return true;
  }

  stillThere(): void {
    if (this.#left?.aborted) throw new Refusal('stopped', 'it was stopped before it was published', []);
  }
}

/** Shows each warning with its code in front. */
function labelled(warnings: readonly Finding[]): string[] {
  const shown: string[] = [];
  for (const { code, lines } of warnings.slice(0, MOST_SHOWN))
    shown.push(`[${code}] ${lines[0] ?? ''}`, ...lines.slice(1));
  const more = warnings.length - MOST_SHOWN;
  return more > 0 ? [...shown, `and ${more} more warnings.`] : shown;
}

/** Finds the warnings that the person has not accepted with the option `yes`. */
export function unconfirmed(findings: readonly Finding[], yes: readonly string[]): Finding[] {
  return findings.filter(({ severity, code }) => severity === 'warn' && !yes.includes(code));
}

/** Finds the warnings that were not told in the same words. */
export function newWarnings(found: readonly Finding[], told: readonly Finding[]): Finding[] {
  const known = new Set(told.map(({ lines }) => lines.join('\n')));
  return found.filter(({ severity, lines }) => severity === 'warn' && !known.has(lines.join('\n')));
}

/** The codes of the warnings, each once, as the option `yes` takes them. */
export function codesOf(findings: readonly Finding[]): string[] {
  const found = new Set(findings.flatMap(({ severity, code }) => (severity === 'warn' ? [code] : [])));
  return WARNING_CODES.filter((code) => found.has(code));
}
