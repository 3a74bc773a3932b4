/** The least that answers with JSON: a Hono route, once by itself and once with headers for browsers. */
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { secureHeaders } from 'hono/secure-headers';

const app = new Hono();

app.get('/bare', (c) => c.json({ status: 'bare' }));
app.get('/with-headers', secureHeaders(), cors(), (c) => c.json({ status: 'bare' }));

export default app;
