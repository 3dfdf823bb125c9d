import type { Order } from '../../endpoints/endpoint.ts'
import { overlaid } from '../../endpoints/order.ts'
import type { Caller } from '../../callers/contract.ts'
import type { Reply } from '../../http/exchange.ts'
import type { Model } from '../../models/contract.ts'
import type { ContentLog } from '../../observe/content/content-log.ts'
import type { LoggedCall } from '../../observe/content/logged-call.ts'
import type { Attribution } from '../../observe/usage/attribution.ts'

/** The call whose content may be kept. */
interface Called {
  readonly id: string
  /** The name of the endpoint. */
  readonly endpoint: string
  readonly model: Pick<Model, 'id'>
  readonly caller: Caller
  readonly attribution: Attribution
}

/** The call, if its content is to be kept. */
export function logged(
  content: ContentLog,
  { id, endpoint, model, caller, attribution }: Called,
  order: Order<unknown>,
): LoggedCall | undefined {
  const { account, group, key } = caller
  return content.begin(
    { id, endpoint, model: model.id, caller: { account, group, key, user: attribution.user } },
    order,
  )
}

/** The order as it is served. */
export function noted<Each extends Order<unknown>>(call: LoggedCall | undefined, order: Each): Each {
  if (call === undefined || order.form === undefined) return order
  return overlaid(order, { form: call.noted(order.form) }) as unknown as Each
}

/** The reply as it is sent. */
export function replied(call: LoggedCall, reply: Promise<Reply>): Promise<Reply> {
  return reply.then(
    (given) => call.answered(given),
    (error: unknown) => {
      call.failed()
      throw error
    },
  )
}
