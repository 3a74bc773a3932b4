/** How pages and feeds write a time. */

/** @param at seconds since 1970. ISO 8601, in UTC. */
export function isoTime(at: number): string {
  return `${new Date(at * 1000).toISOString().slice(0, 19)}Z`;
}
