/**
 * In place of `punycode.js`: names of hosts with letters beyond ASCII, as browsers send them. 1 KB
 * of the bundle.
 */
const toASCII = (name: string): string => new URL(`http://${name}`).hostname;
export default { toASCII, toUnicode: (name: string): string => name };
