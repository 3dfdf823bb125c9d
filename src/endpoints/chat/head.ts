/** The identity of an answer where the vendor gives none. */
import type { Visit } from '../endpoint.ts'
import type { AnswerHead } from './stream-state.ts'

export function headFor(visit: Visit<unknown>): AnswerHead {
  return {
    id: visit.id.replace('req_', 'chatcmpl-'),
    created: Math.floor(visit.startedAt / 1000),
    model: visit.order.model,
  }
}
