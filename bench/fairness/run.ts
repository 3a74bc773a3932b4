/**
 * `npx node bench/fairness/run.ts`: shows what honest newcomers get while somebody floods one
 * repository, by a simpler rule and by that of the service (src/limits/fairness.ts). Prints the
 * figures of docs/operations.md, and those of the simpler rule, which are the same in each run.
 */
import { readArguments } from '../../local/arguments.ts';
import { fairRule, type Flood, installedRule, simpleRule, type Outcome, simulate } from './simulate.ts';

const FLOODS: readonly Flood[] = ['issues', 'comments'];
const NETWORKS = [1, 10, 100, 1000];

/** Writes one line of the table: by a simpler rule, and by that of the service. */
function line(flood: Flood, networks: number, where = '', rules = [simpleRule(), fairRule()]): string {
  const [before, after] = rules.map((rule) => simulate(flood, networks, rule)) as [Outcome, Outcome];
  const cell = (of: (outcome: Outcome) => number, unit = ' %'): string =>
    `${of(before)} → ${of(after)}${unit}`;
  const cells = [
    cell(({ same }) => same),
    cell(({ other }) => other),
    cell(({ partaking }) => partaking),
    cell(({ flood: created }) => created, ''),
  ];
  return `| ${networks.toLocaleString('en')}, ${flood}${where} | ${cells.join(' | ')} |`;
}

if (import.meta.main) {
  readArguments(
    'Usage: npx node bench/fairness/run.ts\n\nPrints the figures of docs/operations.md, and those of a simpler rule.',
    {},
  );
  console.log(
    '| Networks, and what they create | Newcomers there | Newcomers elsewhere | People of its threads | Created by the flood, an hour |',
  );
  console.log('| --- | --- | --- | --- | --- |');
  for (const flood of FLOODS) for (const networks of NETWORKS) console.log(line(flood, networks));
  // By the rule of the service, without the App and with it.
  for (const networks of NETWORKS)
    console.log(line('issues', networks, ' where the App is installed', [fairRule(), installedRule()]));
}
