/** What reports, the operator and the author's appeal do to a pseudonym's records. */
import { MAIN_HOST } from '../../config/hosts.ts';
import { type Reporter, type Standing, pardoned, reported, standingOf } from './moderation.ts';
import type { Guard } from '../guard/guard.ts';
import type { HistoryEntry } from './history.ts';
import type { Records } from './records.ts';

export interface ReportOutcome {
  /** False: an earlier report counts already, or the pseudonym is blocked. */
  readonly accepted: boolean;
  readonly standing: Standing;
}

export interface Pardon {
  readonly standing: Standing;
  /** Of the comments that are still there, how many get back the karma that they showed. */
  readonly restoring: number;
  /** The pseudonym's log, oldest first. */
  readonly log: readonly HistoryEntry[];
}

export function takeReport(records: Records, reporter: Reporter, now: number): ReportOutcome {
  const { moderation, karma, comments, history } = records;
  const { report, facts, effect } = reported(moderation.read(), reporter, now);
  if (report !== null) moderation.add(report, facts);
  if (effect !== 'none') {
    const state = effect === 'flag' ? 'flagged' : 'blocked';
    const { reports } = standingOf(facts, now);
    // As it is now: what is told later may be gone by then.
    history.addNews({ state, reports, ...comments.extent() }, karma.known, now);
    karma.reset(now);
    comments.order(effect === 'flag' ? 'reset' : 'delete', now);
  }
  return { accepted: report !== null, standing: standingOf(facts, now) };
}

/** Lifts what reports have led to. Comments that are deleted stay so: nobody has kept their texts. */
export function pardon({ moderation, karma, comments, history }: Records, now: number): Pardon {
  moderation.writeState(pardoned(moderation.read(), now));
  karma.raise(history.lostKarma(), now);
  history.add('pardoned', now);
  const restoring = comments.restore(now);
  return { standing: standingOf(moderation.read(), now), restoring, log: history.entries() };
}

/**
 * Tells the operator what has happened to the pseudonym; what does not arrive is told later. Never rejects.
 * @param hostKey of the code host of its comments.
 */
export async function tellNews(
  { hash, history }: Records,
  guard: Pick<DurableObjectStub<Guard>, 'moderated'>,
  hostKey: string,
  now: number,
): Promise<void> {
  for (const news of history.dueNews(now)) {
    try {
      const { repository, ...details } = news.details;
      const place = repository === null || hostKey === MAIN_HOST ? repository : `${hostKey}/${repository}`;
      if (await guard.moderated({ hash, ...details, repository: place }, news.at)) history.told(news);
      else history.notTold(news, now);
    } catch {
      history.notTold(news, now);
    }
  }
}
