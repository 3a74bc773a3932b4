import { Hono } from 'hono';
import { createHash } from 'node:crypto';
const app = new Hono();
app.get('/health', (c) => c.json({ status: 'healthy', h: createHash('sha1').update('x').digest('hex') }));
export default app;
