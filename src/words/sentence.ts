/**
 * Makes a sentence of the words that JSON endpoints use for an error, which have neither a capital
 * nor a full stop. The name of a repository or a host stays as it is.
 */
export function sentence(text: string): string {
  if (/^[^\s/.]+[/.]\S/.test(text)) return `${text}.`;
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
