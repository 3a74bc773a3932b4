/** The least that answers with JSON and has headers for browsers: a Hono route. */
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { secureHeaders } from 'hono/secure-headers';

const app = new Hono();

app.get('/with-headers', secureHeaders(), cors(), (c) => c.json({ status: 'bare' }));

export default app;
