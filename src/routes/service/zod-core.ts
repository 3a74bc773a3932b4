/**
 * Replaces zod's core with its fifty languages in the bundle (wrangler.toml): hono-openapi needs no
 * more of it.
 */
export { toJSONSchema } from 'zod';
