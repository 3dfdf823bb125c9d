import { keepAliveFrame, eventFrame, sseHeaders } from '../../http/sse.ts'
import type { ResponseObject, ResponseRequest } from '../../wire/responses.ts'
import { beginningOf } from '../beginning.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint, Detached, Early } from '../endpoint.ts'
import { discard, replyOf } from '../open.ts'
import { overlaid } from '../order.ts'
import { openResponse, progressOf, responseFrames, withIds, type OpenResponse } from './answer.ts'
import type { BackgroundJob } from './background-job.ts'
import { emptyResponse, type ResponseContext } from './empty-response.ts'
import type { ResponseProgress } from './progress.ts'
import { readResponse, type ResponseOrder } from './request.ts'
import type { Reply } from '../../http/exchange.ts'
import { usageOf } from '../../wire/usage.ts'
import { responseUsage } from '../../wire/response-usage.ts'

/** `POST /v1/responses`. */
export const responses: CallEndpoint<ResponseRequest, OpenResponse, ResponseOrder> = defineEndpoint({
  method: 'POST',
  path: '/v1/responses',
  name: 'responses',
  makes: 'text',
  lengthFields: ['max_output_tokens'],
  read: readResponse,
  early: (order, early) => (order.isPrewarm ? prewarmed(order, early) : undefined),
  beginning: ({ field, conversation }) => beginningOf(field('instructions'), conversation.items),
  ask: openResponse,
  discard,
  whole: replyOf,
  frames: responseFrames,
  // The progress has the fields of the request that responses repeat.
  readsLater: [],
  idle: (_, context) => (context.order.job === undefined ? currentProgress(context).idle() : keepAliveFrame),
  opening: (context) => currentProgress(context).open(),
  failed(error, context) {
    context.order.job?.failed(error)
    return (context.order.progress ?? progressOf(context, true)).failed(error)
  },
  detach(order, { id, startedAt, caller, services }) {
    if (order.isBackground !== true) return undefined
    const response: ResponseObject = { ...emptyResponse({ id, order, startedAt }), status: 'queued' }
    const queued = { input: withIds(id, order), response }
    return detached(order, services.background.begin({ account: caller.account, attempt: id, queued, ...order }))
  },
  async repeat(order, reply, { id, caller, services, signal }) {
    if (order.isBackground !== true || !order.stream || reply.status !== 200) return reply
    const response = JSON.parse(Buffer.from(reply.body as Uint8Array).toString()) as ResponseObject
    const { headers, ...rest } = await services.background.follow(caller.account, response, -1, { id, signal })
    return { ...rest, headers: { ...reply.headers, ...headers } }
  },
})

/** The request as its job gets it: streamed, with its end. */
async function detached(order: ResponseOrder, beginning: Promise<BackgroundJob>): Promise<Detached<ResponseOrder>> {
  const job = await beginning
  return {
    order: overlaid(order, { stream: true, archive: job, job }),
    job,
    reply: job.reply,
    shown: order.stream ? (job.follow(-1) ?? job.reply) : job.reply,
  }
}

/** The progress of the latest attempt; a new one before the first attempt. */
function currentProgress(context: ResponseContext): ResponseProgress {
  return (context.order.progress ??= progressOf(context, true))
}

/**
 * The reply to a request that only prepares the next one: a response without output, which the next request continues.
 * Rejects if it cannot be stored.
 */
async function prewarmed(order: ResponseOrder, { id, startedAt }: Early): Promise<Reply> {
  const response = emptyResponse({ id, order, startedAt })
  const completed: ResponseObject = {
    ...response,
    status: 'completed',
    completed_at: response.created_at,
    usage: responseUsage(usageOf(0, 0)),
  }
  const input = withIds(id, order)
  await order.archive?.put({ input, response: completed }, input.slice(order.conversation.earlier))
  const body = [
    eventFrame('response.created', { type: 'response.created', sequence_number: 0, response }),
    eventFrame('response.completed', { type: 'response.completed', sequence_number: 1, response: completed }),
  ].join('')
  return { status: 200, headers: sseHeaders, body }
}
