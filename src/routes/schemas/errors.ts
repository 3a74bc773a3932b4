/** The form of an error of every JSON endpoint (contract, section 4). */
import * as z from 'zod';

export const errorAnswer = z
  .object({ error: z.string().meta({ description: 'What went wrong, for a person to read.' }) })
  .meta({ id: 'Error', description: 'Why the request failed.' });
