/**
 * A duration as Go prints it, which is what the contract shows (4.9): `4h23m15.2s`, `15.2s`, `850ms`, `0s`.
 * @param ms milliseconds, not negative.
 */
export function durationText(ms: number): string {
  const whole = Math.round(ms);
  if (whole === 0) return '0s';
  if (whole < 1000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  const seconds = `${(whole % 60_000) / 1000}s`;
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}
