/** The public name of a pull request: 12 hex characters. */
const BYTES = 6;

/**
 * A new one. It has at least one letter: JGit takes the line `PR hash:  859747725008` for a progress count, and breaks
 * off because the number is too large.
 */
export function newPrHash(): string {
  for (;;) {
    const hash = Buffer.from(crypto.getRandomValues(new Uint8Array(BYTES))).toString('hex');
    if (/[a-f]/.test(hash)) return hash;
  }
}
