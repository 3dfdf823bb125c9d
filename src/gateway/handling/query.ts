import type { Ticket } from '../../admission/ticket.ts'
import type { Assembly } from '../assembly/assemble.ts'
import type { Caller } from '../../callers/contract.ts'
import type { QueryEndpoint } from '../../endpoints/endpoint.ts'
import type { Reply } from '../../http/exchange.ts'
import type { Model } from '../../models/contract.ts'
import type { HandledRequest } from './handled-request.ts'

/** Answers a request that waits for no model, such as the model list or a video task. `rest`: of its path. */
export async function answerQuery(
  { admission, catalogue, sizes, services }: Assembly,
  request: HandledRequest,
  { endpoint, caller, rest }: { readonly endpoint: QueryEndpoint; readonly caller: Caller; readonly rest: string },
): Promise<Reply> {
  const { id, exchange, watch } = request
  const entry = endpoint.limited === true ? admission.enter(id, caller) : undefined
  const counted = endpoint.limited === 'counts' ? await admission.enterCount(id, caller) : undefined
  let ticket: Ticket | undefined
  const admit = async (model: Model) => {
    request.names(model)
    ticket = await entry?.admit({}, undefined, model)
  }
  try {
    const concerns = (record: string) => request.concerns(record)
    const query = { id, exchange, caller, rest, catalogue, sizes, services, admit, concerns, watch }
    const reply = await (watch === undefined ? endpoint.answer(query) : watch.within(() => endpoint.answer(query)))
    watch?.ended({ outcome: 'completed', status: reply.status })
    return { ...reply, headers: { ...reply.headers, ...counted, ...ticket?.headers } }
  } finally {
    ticket?.giveBack()
    entry?.leave()
  }
}
