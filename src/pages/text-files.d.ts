/** Declares files that esbuild, wrangler and Vitest's plugin for workerd import as text. */
declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.html' {
  const text: string;
  export default text;
}
declare module '*.txt' {
  const text: string;
  export default text;
}
