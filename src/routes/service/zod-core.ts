/**
 * All that hono-openapi needs of zod's core, without its fifty languages: wrangler.toml puts this
 * in its place.
 */
export { toJSONSchema } from 'zod';
