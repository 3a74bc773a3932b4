/**
 * All that hono-openapi takes of zod's core at run time. It imports the whole of it, with messages in fifty languages;
 * wrangler.toml puts this in its place.
 */
export { toJSONSchema } from 'zod';
