/**
 * Worker that runs the service's scheduled handler, because workerd itself has no cron triggers.
 * POST the scheduled time in milliseconds; the answer is the outcome, `ok` or another.
 */
interface Env {
  /** The compatibility flag `service_binding_extra_handlers` adds this method. */
  readonly SERVICE: { scheduled(controller: object): Promise<{ outcome: string }> };
}

export default {
  async fetch(request: Request, { SERVICE }: Env): Promise<Response> {
    const scheduledTime = new Date(Number(await request.text()));
    const { outcome } = await SERVICE.scheduled({ scheduledTime, cron: '* * * * *' });
    return new Response(outcome);
  },
};
