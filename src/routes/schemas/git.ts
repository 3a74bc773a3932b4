/** The Git remote (contract, 4.5). Its bodies are Git's own formats. */
import * as z from 'zod';

export const discoveryQuery = z.object({
  service: z
    .enum(['git-receive-pack', 'git-upload-pack'])
    .meta({ description: 'What will follow: a push or a fetch.' }),
});
