/**
 * Measures workerd's processor time for texts that cost a careless reader far more than their
 * sender: the worst of many kinds of comments, and of commit messages of a megabyte.
 */
import { HOSTILE_BODIES } from '../../test/text/support/hostile-bodies.ts';
import { HOSTILE_MESSAGES } from '../../test/support/hostile-messages.ts';
import { commit, fastImport } from '../support/fast-import.ts';
import { median, type Row, row } from '../support/figures.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { processorMs } from '../support/processor.ts';
import { type Rig, type Target, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 3;
const MEGABYTE = 1_000_000;
const MOST_MS = 500;
/** Longest comment that leaves room for the footer. */
const MOST_CHARACTERS = 65_000;

export async function texts(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  const messages = Object.keys(HOSTILE_MESSAGES);
  await fastImport(client, branches());
  return withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    return [
      await worst(rig, `a comment of ${MOST_CHARACTERS} characters`, Object.keys(HOSTILE_BODIES), (kind) =>
        comment(rig, target, HOSTILE_BODIES[kind]?.slice(0, MOST_CHARACTERS) ?? ''),
      ),
      await worst(rig, 'a push whose message has 1 MB', messages, (kind) =>
        preview(rig, client, target, branchOf(messages.indexOf(kind))),
      ),
    ];
  });
}

/** Finds the kind that costs most. */
async function worst(
  rig: Rig,
  what: string,
  kinds: readonly string[],
  send: (kind: string) => Promise<void>,
): Promise<Row> {
  let most = { kind: '', ms: 0 };
  for (const kind of kinds) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = processorMs(rig.workerdPid);
      await send(kind);
      times.push(processorMs(rig.workerdPid) - before);
    }
    if (median(times) > most.ms) most = { kind, ms: median(times) };
  }
  const name = `${what}: processor time of the worst of ${kinds.length} kinds, of ${MOST_MS} ms`;
  return row({ name, value: most.ms, reference: MOST_MS, goal: 1, unit: 'ms', note: `full of ${most.kind}` });
}

/**
 * Comments on the warm-up's pull request. It depends on the text whether the comment is accepted.
 */
async function comment(rig: Rig, { service }: Target, body: string): Promise<void> {
  const answer = await fetch(`${service}/issues/1/comments/anonymous`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': rig.newAddress() },
    body: JSON.stringify({ body }),
  });
  await answer.arrayBuffer();
  if (![200, 400].includes(answer.status)) throw new Error(`a comment was answered with ${answer.status}`);
}

/** Previews a push. Git ends with an error, because nothing is published. */
async function preview(rig: Rig, client: string, target: Target, branch: string): Promise<void> {
  const told = await rig.push(client, target, branch, ['preview', 'publish-names']).catch(String);
  if (!/\[remote rejected\]/.test(String(told))) throw new Error(`a preview was answered otherwise: ${told}`);
}

const branchOf = (message: number): string => `message-${message}`;

function* branches(): Generator<string> {
  for (const [number, message] of Object.values(HOSTILE_MESSAGES).entries()) {
    yield commit({
      ref: `refs/heads/${branchOf(number)}`,
      from: 'refs/heads/main',
      at: Math.floor(Date.now() / 1000),
      message: message(MEGABYTE),
      files: [['texts.txt', `${number}\n`]],
    });
  }
}
