/**
 * `npm start`: the whole service on this machine.
 *
 * The bundler is a program of its own, so it begins before everything else, and works while Node.js loads the rest.
 */
import { buildForStart } from './kept-build.ts';

const building = buildForStart();
// Whoever awaits it says what went wrong; until then, nobody is there to hear of it.
building.catch(() => {});
const { start } = await import('./start-service.ts');
await start(building);
