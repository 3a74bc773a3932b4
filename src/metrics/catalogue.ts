/**
 * The series of /metrics. Labels have few values, none of which names a person or a repository.
 * Every series is used by an alert or a document.
 * Proved by test/local/series.test.ts and test/metrics/series.test.ts.
 */
export interface Family {
  readonly type: 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, rising, in the unit of its name. */
  readonly buckets?: readonly number[];
  /** Set if events are rare and important: they are sent at once, not with the next batch. */
  readonly isRare?: true;
}

export type Gauge = Pick<Family, 'help' | 'labels'>;

export const CATALOGUE = {
  gitveil_http_requests_total: {
    type: 'counter',
    help: 'Requests by method, route pattern and status.',
    labels: ['method', 'route', 'status'],
  },
  gitveil_pushes_total: {
    type: 'counter',
    help: 'Pushes by outcome: accepted, suspended, rate-limited, refused by a rule, or failed by a fault.',
    labels: ['outcome'],
    isRare: true,
  },
  gitveil_push_duration_seconds: {
    type: 'histogram',
    help: 'Time from the first byte of a push to the end of its answer, by outcome.',
    labels: ['outcome'],
    // Large packs and new forks take long.
    buckets: [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300],
    isRare: true,
  },
  gitveil_outgoing_requests_total: {
    type: 'counter',
    help: 'Requests to the code host (rest, git) and the notification service, by status; none: no answer.',
    labels: ['service', 'status'],
  },
  gitveil_host_pauses_total: {
    type: 'counter',
    help: 'Times the code host asked the bot account to slow down, by the status of its answer.',
    labels: ['status'],
    isRare: true,
  },
} as const satisfies Readonly<Record<string, Family>>;

/** Values that are read when somebody asks for them. */
export const GAUGES = {
  gitveil_host_calls_left: {
    help: 'Calls of its REST interface that the code host still allows the bot account; none: it has not said.',
    labels: ['host'],
  },
  gitveil_host_calls_limit: { help: 'Calls that it allows in one period.', labels: ['host'] },
  gitveil_host_creations_left: {
    help: 'Comments, issues and pull requests that the bot account may still create, by limit (LIMIT_CREATIONS).',
    labels: ['host', 'limit'],
  },
  gitveil_delayed_oldest_seconds: { help: 'How long the oldest delayed push has waited.', labels: [] },
  gitveil_bot_account_problem: {
    help: '1 while something is wrong with the bot account, its token or its App, by what it is.',
    labels: ['host', 'problem'],
  },
} as const satisfies Readonly<Record<string, Gauge>>;

export type GaugeName = keyof typeof GAUGES;

type Catalogue = typeof CATALOGUE;
export type FamilyName = keyof Catalogue;
type NamesOf<Type> = { [N in FamilyName]: Catalogue[N]['type'] extends Type ? N : never }[FamilyName];
export type CounterName = NamesOf<'counter'>;
export type HistogramName = NamesOf<'histogram'>;
export type LabelsOf<N extends FamilyName> = Readonly<Record<Catalogue[N]['labels'][number], string>>;
