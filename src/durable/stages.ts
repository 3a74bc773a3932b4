/**
 * The stages of something that is stored, as data: the code moves only as its table says, and
 * docs/storage.md shows the table (`npm run documents`).
 */

export interface StageRow<Stage extends string, Event extends string> {
  /** A sentence for docs/storage.md, without its full stop. */
  readonly means: string;
  /** Where each event may lead. One that is missing cannot happen; without any, it is final. */
  readonly next: Readonly<Partial<Record<Event, readonly Stage[]>>>;
}

export interface StageTable<Stage extends string, Event extends string> {
  /** The stages in which it may begin. */
  readonly first: readonly Stage[];
  readonly stages: Readonly<Record<Stage, StageRow<Stage, Event>>>;
}

/** @throws Error if the table has no such move: then the code is wrong, and nothing is stored. */
export function checkMove<Stage extends string, Event extends string>(
  { stages }: StageTable<Stage, Event>,
  from: Stage,
  event: Event,
  to: Stage,
): void {
  if (stages[from].next[event]?.includes(to) !== true)
    throw new Error(`no move from "${from}" by "${event}" to "${to}"`);
}

/**
 * Answers where an event leads that leads to one stage only.
 * @throws Error as `checkMove`
 */
export function stageAfter<Stage extends string, Event extends string>(
  { stages }: StageTable<Stage, Event>,
  from: Stage,
  event: Event,
): Stage {
  const [to, ...others] = stages[from].next[event] ?? [];
  if (to === undefined || others.length > 0) throw new Error(`no single move from "${from}" by "${event}"`);
  return to;
}
