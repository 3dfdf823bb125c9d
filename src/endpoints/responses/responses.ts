import { release } from '../../http/flow-of.ts'
import type { ResponseRequest } from '../../wire/responses.ts'
import { beginningOf } from '../beginning.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { openResponse, progressOf, responseFrames, wholeResponse, type OpenResponse } from './answer.ts'
import type { ResponseContext } from './empty-response.ts'
import type { ResponseProgress } from './progress.ts'
import { prewarmed } from './prewarm.ts'
import { readResponse, type ResponseOrder } from './request.ts'

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
  discard(answer) {
    if (answer.kind === 'events') release(answer.rest)
  },
  whole: wholeResponse,
  frames: responseFrames,
  // The progress has the fields of the request that responses repeat.
  readsLater: [],
  idle: (_, context) => currentProgress(context).idle(),
  opening: (context) => currentProgress(context).open(),
  failed: (error, context) => (context.order.progress ?? progressOf(context, true)).failed(error),
})

/** The progress of the latest attempt; a new one before the first attempt. */
function currentProgress(context: ResponseContext): ResponseProgress {
  return (context.order.progress ??= progressOf(context, true))
}
