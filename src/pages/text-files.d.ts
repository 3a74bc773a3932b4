/** Files that are imported as text: by esbuild, by wrangler, and by Vitest's plugin for workerd. */
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
