/** Reads Anthropic's errors, `{ type, message }`. */
import { entryIn, fieldsOf } from '../../wire/json.ts'
import { messageOf, type Faults, type VendorFault } from '../vendor-error.ts'

/** Source: Anthropic's API reference, Errors. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** The code and the field of an error, by its words. */
export function readFault(fault: VendorFault): VendorFault {
  const text = messageOf(fault.error)
  return { ...fault, error: { code: codeOf(text), param: fieldIn(text) } }
}

/** The status of an error inside a stream. */
export function statusOf(error: unknown): number {
  return entryIn(statuses, fieldsOf(error)['type']) ?? 500
}

export const messageFaults: Faults = { statusOf, read: readFault }

function codeOf(message: string): string | undefined {
  // Anthropic responds with a 400 to an account without credit.
  if (/credit balance is too low/i.test(message)) return 'insufficient_quota'
  if (/prompt is too long|exceeds? (?:the )?(?:model's )?context/i.test(message)) return 'context_length_exceeded'
  return undefined
}

/** The field that a message begins with, as in "output_config.effort: …". */
function fieldIn(message: string): string | undefined {
  const [, root, inner = ''] = /^([a-z_]+)(\.[a-z_]+)?[\w.]*:/.exec(message) ?? []
  return root === undefined ? undefined : `${root}${inner}`
}
