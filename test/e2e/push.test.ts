/** One branch, one commit: what a person sees, and what the host gets. */
import { describe, expect, it } from 'vitest';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed();

describe('a push of one commit', () => {
  it('opens a pull request by the bot', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    const clone = await person.clone(upstream.url);
    await clone.commit({ message: 'Say hello\n\nBecause it is polite.\n' });
    const pushed = await clone.push();
    expect(pushed.code).toBe(0);
    const pull = await bed.host.onlyPull(upstream);
    expect(pull).toMatchObject({ title: 'Say hello', body: 'Because it is polite.', base: 'main' });
  });
});
