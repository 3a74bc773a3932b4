/**
 * `npm run drain`: publishes all delayed pushes, before an older version of the service takes over.
 * Asks the service at SERVICE_URL with PANIC_PASSWORD, until none is left that it can publish.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { readArguments } from '../arguments.ts';
import { withVariables } from '../environment.ts';

/** Pause between requests: the operator's endpoints take ten a minute. */
const PAUSE_MS = 7_000;

readArguments(
  `
Usage: npm run drain

Publishes the delayed pushes, and ends when none is left that it can publish. It asks the service at SERVICE_URL
(default: http://127.0.0.1:8080) and needs its PANIC_PASSWORD, both as environment variables.
`,
  {},
);

const { SERVICE_URL: url = 'http://127.0.0.1:8080', PANIC_PASSWORD: password = '' } = process.env;

async function ask(): Promise<{ delayed: number; to_review: number }> {
  const response = await fetch(`${url.replace(/\/+$/, '')}/admin/drain`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ password }),
  }).catch((cause: unknown) => {
    throw new Error(`${url} cannot be reached`, { cause });
  });
  const answer = await response.json<{ delayed: number; to_review: number; error?: string }>();
  if (!response.ok) throw new Error(`${url} says: ${answer.error ?? response.status}`);
  return answer;
}

try {
  if (password === '') throw new Error('PANIC_PASSWORD is not set');
  for (;;) {
    const { delayed, to_review: toReview } = await ask();
    console.log(`${delayed} to publish, ${toReview} to review`);
    if (delayed === 0) {
      if (toReview > 0)
        console.log(`Publish or discard those at ${url}/admin/delayed, or an older version will lose them.`);
      break;
    }
    await delay(PAUSE_MS);
  }
} catch (error) {
  console.error(`drain: ${error instanceof Error ? error.message : String(error)}`);
  console.error('Set SERVICE_URL to the address of the service, and PANIC_PASSWORD to its password.');
  console.error(withVariables('npm run drain'));
  process.exitCode = 1;
}
