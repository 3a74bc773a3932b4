/** Worker that checks the database and brings it up to date: POST the migrations as JSON. */
import type { D1Database } from '@cloudflare/workers-types';
import type { Migration } from '../../deploy/migrations.ts';
import { applyMigrations } from '../../deploy/migrations.ts';

export default {
  async fetch(request: Request, { DB }: { DB: D1Database }): Promise<Response> {
    try {
      const { results } = await DB.prepare('PRAGMA quick_check(1)').all();
      const [found] = results.map((row) => Object.values(row)[0]);
      if (found !== 'ok') throw new Error(String(found));
      await applyMigrations(DB, await request.json<Migration[]>());
      return new Response(null, { status: 204 });
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};
