/**
 * Marks a test or a suite that takes long: sizes, floods, kills at every step, hostile hosts answer
 * by answer, and properties with many draws. `npm test` leaves these out, `npm run test:all` and CI
 * run them.
 */
export const exhaustive = { tags: ['exhaustive'] };
