/** The state of the service (contract, 4.10). */
import * as z from 'zod';

export const statusAnswer = z
  .object({ panic_mode: z.boolean().meta({ description: 'Whether pushes are rejected now.' }) })
  .meta({ description: 'Whether the service accepts pushes.' });

export type StatusAnswer = z.infer<typeof statusAnswer>;
