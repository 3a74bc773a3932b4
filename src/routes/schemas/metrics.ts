/** The metrics of one isolate (contract, 4.9). */
import * as z from 'zod';

const MEMORY = z
  .object({
    alloc: z.int().min(0).meta({ description: 'Bytes of the buffers for bodies that are not yet freed.' }),
    total_alloc: z.int().min(0).meta({ description: 'Bytes of all such buffers so far.' }),
    sys: z.int().min(0).meta({ description: 'Bytes that the platform allows an isolate.' }),
    num_gc: z.int().min(0).meta({ description: 'Garbage collections noticed.' }),
  })
  .meta({ description: 'Memory, as far as the service can measure it itself.' });

export const metricsAnswer = z
  .object({
    memory: MEMORY,
    goroutines: z.int().min(0).meta({ description: 'Requests being answered, this one included.' }),
    uptime: z.string().meta({ description: "Since the isolate's first request.", examples: ['4h23m15.2s'] }),
  })
  .meta({ description: 'The state of the isolate that answers; there may be many.' });

export type MetricsAnswer = z.infer<typeof metricsAnswer>;
