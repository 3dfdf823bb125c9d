/** `POST /v1/responses`. */
import type { ResponseRequest } from '../../wire/responses.ts'
import { release } from '../chunk-stream.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { openResponse, progressOf, responseFrames, wholeResponse, type OpenResponse } from './answer.ts'
import type { ResponseVisit } from './blank.ts'
import type { ResponseProgress } from './progress.ts'
import { readResponse, type ResponseOrder } from './request.ts'

export const responses: CallEndpoint<ResponseRequest, OpenResponse, ResponseOrder> = {
  name: 'responses',
  makes: 'text',
  lengthFields: ['max_output_tokens'],
  read: readResponse,
  ask: openResponse,
  discard(answer) {
    if (answer.kind === 'events') release(answer.rest)
  },
  whole: wholeResponse,
  frames: responseFrames,
  idle: (_, visit) => told(visit).idle(),
  opening: (visit) => told(visit).open(),
  failed: (error, visit) => (visit.order.progress ?? progressOf(visit, true)).failed(error),
}

/** What the client has been told, while no provider has begun to answer too. */
function told(visit: ResponseVisit): ResponseProgress {
  return (visit.order.progress ??= progressOf(visit, true))
}
