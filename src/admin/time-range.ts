import { invalid } from '../errors.ts'

/** From one time to another. */
export interface TimeRange {
  /** Its start, inclusive. Milliseconds since the epoch. */
  readonly from: number
  /** Its end, exclusive. Milliseconds since the epoch. */
  readonly to: number
}

/** Throws a 400 for a range without length. */
export function requireRange({ from, to }: TimeRange): void {
  if (from >= to) throw invalid('"to" must be later than "from".', 'to')
}
