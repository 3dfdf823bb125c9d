/** Errors of MiniMax, which it sends with status 200. Source: its API reference, Error codes. */
import { fieldsOf } from '../wire/json.ts'

const statuses: Readonly<Record<number, number>> = {
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1039: 429,
  1042: 400,
  2013: 400,
  2049: 401,
}

/** The HTTP status of the error in an answer; undefined if there is none. Unknown codes are faults of the vendor. */
export function minimaxStatus(answer: unknown): number | undefined {
  const code = fieldsOf(fieldsOf(answer)['base_resp'])['status_code']
  return typeof code !== 'number' || code === 0 ? undefined : (statuses[code] ?? 500)
}
