/**
 * Gathers what the steps of judging find, so that a push with several faults is told of all of them
 * at once: refusals first, then the repository's rules, then the rest. A refusal that a step throws
 * is gathered, too, unless the host has failed. All else that it throws ends judging.
 * Proved by test/push/judge/findings.test.ts.
 */
import type { GitClient } from '../../git/wire/git-client.ts';
import type { Finding } from '../../words/finding.ts';
import { isOfHost, isOfLimits, Refusal, toRefusal } from '../reply/refusal.ts';

/** Codes that are told before what the push is: where it goes, then the repository's rules. */
const FIRST = ['unknown-hash', 'merged', 'closed', 'second', 'gate', 'workflows'];

function rank({ severity, code }: Finding): number {
  if (severity === 'refuse') return -1;
  const at = FIRST.indexOf(code.endsWith('-gate') ? 'gate' : code);
  return at < 0 ? FIRST.length : at;
}

export class Findings {
  readonly #found: Finding[] = [];

  /** In the order in which they are told. */
  get all(): readonly Finding[] {
    return this.#found.toSorted((one, other) => rank(one) - rank(other));
  }

  add(found: readonly Finding[]): void {
    this.#found.push(...found);
  }

  /**
   * Runs a step. A refusal that it throws is a finding like any other, and the next step runs.
   * @throws what else it throws; Refusal if the code host has failed: the next step would ask it
   * again in vain
   */
  async run(step: () => readonly Finding[] | Promise<readonly Finding[]>): Promise<void> {
    try {
      this.add(await step());
    } catch (error) {
      if (!(error instanceof Refusal) || isOfHost(error)) throw error;
      this.add([error]);
    }
  }

  /**
   * Answers a value that later steps need. Where that is refused, they go on with another one.
   * @throws as `run`
   */
  async valueOr<T>(value: () => Promise<T>, standIn: T): Promise<T> {
    let found = standIn;
    await this.run(async () => {
      found = await value();
      return [];
    });
    return found;
  }

  /**
   * Answers what to throw where judging cannot go on: what was found before comes first. A fault of
   * the service stays alone, because it is logged, as does a limit, which comes before all else.
   */
  endedBy(error: unknown, client: GitClient): unknown {
    const last = toRefusal(error, client);
    const isAlone = last.code === 'internal' || isOfLimits(last);
    const refusal = isAlone ? null : refusalOf([...this.#found, last]);
    return refusal === last ? error : (refusal ?? error);
  }
}

/** Answers the refusal of a push, whose reason is the first one's; null: nothing refuses it. */
export function refusalOf(findings: readonly Finding[]): Refusal | null {
  const first = findings.find((finding) => finding instanceof Refusal);
  return first?.with(findings.filter((finding) => finding !== first)) ?? null;
}
