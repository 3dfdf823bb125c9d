import type { Ticket } from '../../admission/ticket.ts'
import type { CallEndpoint, Detached } from '../../endpoints/endpoint.ts'
import type { Admitted } from '../../endpoints/admitted.ts'
import type { Reply } from '../../http/exchange.ts'
import type { Assembly } from '../assembly/assemble.ts'
import type { HandledRequest } from './handled-request.ts'
import { serve } from './serve.ts'

/** Serves a request that goes on without its client, and answers at once. */
export async function serveDetached<R, A>(
  assembly: Assembly,
  endpoint: CallEndpoint<R, A>,
  request: HandledRequest,
  {
    caller,
    model,
    detaching,
  }: Pick<Admitted<R>, 'caller' | 'model'> & {
    readonly detaching: Promise<Detached<Admitted<R>['order']>>
  },
  ticket: Ticket | undefined,
): Promise<Reply> {
  const detached = await detaching.catch((error: unknown) => {
    ticket?.abandon()
    throw error
  })
  const { id, exchange, keyed, startedAt, elapsedMs, watch } = request
  const { job, order, reply, shown } = detached
  if (ticket !== undefined) ticket.keeper = job
  const parts = { id, exchange, keyed: undefined, startedAt, elapsedMs, watch, client: job.cancellation }
  request.keyed = undefined
  // Before the vendor is called, so that a repeated request gets this response even if this process dies.
  await keyed?.keep(reply)
  void job.run(serve(assembly, endpoint, parts, { caller, order, model }, ticket))
  return shown
}
