import type { Caller } from '../../callers/contract.ts'
import { fittedOrder } from '../../endpoints/fitted-order.ts'
import { madeOrder } from '../../endpoints/order.ts'
import { replay } from '../../endpoints/replay.ts'
import { invalid } from '../../errors.ts'
import type { Exchange } from '../../http/exchange.ts'
import { requestId } from '../../http/request-id.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import type { Answer } from '../../conversation/parts.ts'
import type { LoggedContent, Replayed } from '../../observe/content/content.ts'
import type { Assembly } from '../assembly/assemble.ts'
import { serve } from './serve.ts'

/**
 * Asks a model what was asked in a call, for the same caller. Nobody pays for it, and neither it nor its use is kept. Throws a 400
 * for what is no conversation, or has media that were not kept.
 */
export async function replayed(assembly: Assembly, content: LoggedContent, name: string): Promise<Replayed> {
  const conversation = askedIn(content)
  const { account, group, user } = content
  const caller: Caller = { account, group, ...(user !== undefined && { user }) }
  const startedAt = assembly.now()
  const begun = assembly.ticks()
  const elapsedMs = () => assembly.ticks() - begun
  const model = await assembly.catalogue.find(name, caller, startedAt)
  const { settings } = conversation
  const plain = { ...conversation, settings: { ...settings, stream: false } }
  const order = fittedOrder(replay, madeOrder({ model: name, conversation: plain }), model)
  const id = requestId()
  const request = { id, exchange: nowhere(), keyed: undefined, startedAt, elapsedMs, watch: undefined }
  const { body } = await serve(
    { ...assembly, content: undefined },
    replay,
    request,
    { caller, order, model },
    undefined,
  )
  return { id, model: name, ms: elapsedMs(), answer: JSON.parse(Buffer.from(body as string).toString()) as Answer }
}

function askedIn({ request: { conversation }, media }: LoggedContent): Conversation {
  if (conversation === undefined) throw invalid('Only conversations can be replayed.', 'id')
  const text = JSON.stringify(conversation)
  if (media.some(({ reference }) => text.includes(reference)))
    throw invalid('This request has media, of which only the hash was kept, so that it cannot be replayed.', 'id')
  return conversation
}

function nowhere(): Exchange {
  const { signal } = new AbortController()
  return { method: 'POST', target: '/', headers: {}, body: { state: 'lost' }, signal }
}
