import type { Order } from '../endpoints/endpoint.ts'
import { positive } from './length.ts'

/** The number of choices per prompt, `unstated` if the request does not set it. */
export function choicesIn(field: Order<unknown>['field'], unstated: number = 1): number {
  return Math.max(positive(field('n')) ?? unstated, positive(field('best_of')) ?? 1)
}
