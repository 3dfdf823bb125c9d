/** What is said of JSON that exceeds the limits, whether its text or its value is measured. */
import { invalid } from '../errors.ts'
import type { Sizes } from './sizes.ts'

export type JsonLimits = Pick<Sizes, 'jsonDepth' | 'jsonEntries' | 'jsonNodes'>

export function tooDeep({ jsonDepth }: JsonLimits): Error {
  return invalid(`The request body is nested deeper than ${jsonDepth} levels.`)
}

export function tooManyParts({ jsonEntries, jsonNodes }: JsonLimits): Error {
  return invalid(
    `The request body has too many parts: at most ${jsonEntries} in one list or object, ${jsonNodes} in all.`,
  )
}
