/**
 * One STATE_DIR has one service: a second one stops and says why, and a dead one stands in nobody's
 * way.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeStateDir } from '../../local/runtime/state-lock.ts';
import {
  commandLineOf,
  descendantsOf,
  freePorts,
  isRunning,
  nodeStart,
  type Program,
  untilPrinted,
} from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

let stateDir: string;
let programs: Program[];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  programs = [];
});

afterEach(async () => {
  for (const { child } of programs) child.kill('SIGTERM');
  await Promise.all(programs.map(({ ended }) => ended));
  rmSync(stateDir, { recursive: true, force: true });
});

function start(port: number): Program {
  const program = nodeStart({ env: { STATE_DIR: stateDir, PORT: String(port) } });
  programs.push(program);
  return program;
}

const familyOf = ({ child }: Program): number[] => descendantsOf(child.pid as number);

it(
  'two services on one STATE_DIR are one, and come one after the other, also after kill -9',
  exhaustive,
  async () => {
    const port = await freePorts();
    const first = start(port);
    await untilPrinted(first, 'gitveil is running');
    const family = familyOf(first);
    expect(family.map(commandLineOf).join('\n')).toContain('workerd serve');
    const holder = readFileSync(join(stateDir, 'lock-holder'), 'utf8').trim();
    const [, pid] = /^process (\d+), port \d+$/.exec(holder) ?? [];
    expect([first.child.pid, ...family]).toContain(Number(pid));

    const second = start(await freePorts());
    expect(await second.ended).toBe(1);
    expect(second.output.stdout).toContain(
      `STATE_DIR is "${stateDir}": another gitveil uses it (${holder}); stop that one, or set STATE_DIR to another folder`,
    );
    expect(family.every(isRunning)).toBe(true);

    process.kill(Number(pid), 'SIGKILL');
    await first.ended;
    await expect.poll(() => family.filter(isRunning)).toEqual([]);
    await untilPrinted(start(port), 'gitveil is running');
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  },
);

describe('a lock', () => {
  const warnings: string[] = [];
  const take = () => takeStateDir(stateDir, 8080, (message) => void warnings.push(message));

  it('of a process that is gone is none, whoever has its number now', () => {
    writeFileSync(join(stateDir, 'lock'), '');
    writeFileSync(join(stateDir, 'lock-holder'), `process ${process.pid}, port 1\n`);
    expect(take()).toBeNull();
    expect(warnings).toEqual([]);
    expect(readFileSync(join(stateDir, 'lock-holder'), 'utf8')).toBe(`process ${process.pid}, port 8080\n`);
  });

  it('that cannot be had is told, and the service goes on', () => {
    mkdirSync(join(stateDir, 'lock'));
    expect(take()).toBeNull();
    expect(warnings.splice(0)).toEqual([
      expect.stringMatching(
        /^STATE_DIR is "[^"]+": it cannot be locked \(.+\), so take care that no second /,
      ),
    ]);
  });
});
