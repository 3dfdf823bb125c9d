/** `POST /v1/responses`. */
import type { ResponseRequest } from '../../wire/responses.ts'
import { release } from '../chunk-stream.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { openResponse, progressOf, responseFrames, wholeResponse, type OpenResponse } from './answer.ts'
import { readResponse, type ResponseOrder } from './request.ts'

export const responses: CallEndpoint<ResponseRequest, OpenResponse, ResponseOrder> = {
  name: 'responses',
  outputField: 'max_output_tokens',
  read: readResponse,
  ask: openResponse,
  discard(answer) {
    if (answer.kind === 'events') release(answer.rest)
  },
  whole: wholeResponse,
  frames: responseFrames,
  failed: (error, visit) => (visit.order.progress ?? progressOf(visit, true)).failed(error),
}
