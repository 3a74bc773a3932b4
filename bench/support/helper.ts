/**
 * Runs the service and the code host in separate processes, as in production. This matters for the
 * times: the larger a Node process is, the longer it takes to start another (16 ms at 370 MB, 1.4
 * ms at 50 MB), and all three processes start git or are timed by starting it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Functions of a helper, by name. */
export type Actions = Readonly<Record<string, (question: never) => Promise<unknown>>>;

type Question<Act> = Act extends (question: infer Q) => Promise<unknown> ? Q : never;
type Answer<Act> = Act extends (question: never) => Promise<infer A> ? A : never;

/** The parent's side. Calls are made one after the other. */
export class Helper<Asked extends Actions> {
  readonly #child: ChildProcess;

  constructor(file: string) {
    this.#child = fork(file);
  }

  async ask<Name extends keyof Asked & string>(
    name: Name,
    question: Question<Asked[Name]>,
  ): Promise<Answer<Asked[Name]>> {
    const ended = new AbortController();
    const exit = once(this.#child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error(`a helper ended while it should have done "${name}"`);
    });
    // If the answer arrives first, this does not matter.
    exit.catch(() => {});
    this.#child.send({ name, question });
    const [{ answer, error }] = (await Promise.race([once(this.#child, 'message'), exit])) as [
      { answer: Answer<Asked[Name]>; error?: string },
    ];
    ended.abort();
    if (error !== undefined) throw new Error(error);
    return answer;
  }

  /** Ends the helper. It ends what it has started first. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    await exit;
  }
}

/** The helper's side. `end` is called when the parent no longer needs it, or has ended. */
export function answerQuestions(actions: Actions, end: () => Promise<void>): void {
  process.on('message', ({ name, question }: { name: string; question: never }) => {
    const action = actions[name];
    if (action === undefined) throw new Error(`"${name}" is not known here`);
    action(question).then(
      (answer) => process.send?.({ answer }),
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
    );
  });
  process.on('disconnect', () => {
    end().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
