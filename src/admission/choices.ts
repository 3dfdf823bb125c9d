/** How many answers a request asks for. */
import type { Order } from '../endpoints/endpoint.ts'
import { positive } from './length.ts'

/** Answers to one prompt. `unstated`: where the request does not say. */
export function choicesIn(field: Order<unknown>['field'], unstated: number = 1): number {
  return Math.max(positive(field('n')) ?? unstated, positive(field('best_of')) ?? 1)
}
