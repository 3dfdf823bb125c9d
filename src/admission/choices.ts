import { positive, type Field } from './output-length.ts'

/** The number of choices per prompt, `unstated` if the request does not set it. */
export function choicesIn(field: Field, unstated: number = 1): number {
  return Math.max(positive(field('n')) ?? unstated, positive(field('best_of')) ?? 1)
}
