/**
 * Stored records that cannot be read, because they were damaged or a later version has written them. A list shows what is known of
 * such a record, or reports it and leaves it out. Reading a single one throws an error that names it.
 */
import { GatewayError } from '../errors.ts'
import { isRecord, type Fields } from '../wire/json.ts'

/** The object of a JSON text; undefined for anything else. */
export function objectIn(text: unknown): Fields | undefined {
  const value = valueIn(text)
  return isRecord(value) ? value : undefined
}

/** The list of a JSON text; undefined for anything else. */
export function listIn(text: unknown): readonly unknown[] | undefined {
  const value = valueIn(text)
  return Array.isArray(value) ? value : undefined
}

/** The value of a JSON text; undefined if it is none. */
export function valueIn(text: unknown): unknown {
  try {
    return JSON.parse(text as string)
  } catch {
    return undefined
  }
}

/** The object of a JSON text. Throws if there is none. `name`: such as `response resp_1`. */
export function storedObject(text: unknown, name: string): Fields {
  const found = objectIn(text)
  if (found === undefined) throw unreadable(name)
  return found
}

/** What is made of the items. Those of which nothing can be made are reported and left out. */
export function readable<From extends { readonly id: string }, To>(
  items: readonly From[],
  read: (item: From) => To,
  failed: ((id: string, error: unknown) => void) | undefined,
): To[] {
  return items.flatMap((item) => {
    try {
      return [read(item)]
    } catch (error) {
      failed?.(item.id, error)
      return []
    }
  })
}

/** The error for a record that is asked for alone. It is no fault of the store as a whole. */
export function unreadable(name: string, cause?: unknown): GatewayError {
  // The message of a SyntaxError quotes the record.
  const why = cause instanceof Error && cause.name !== 'SyntaxError' ? `: ${cause.message}` : '.'
  const message = `The stored ${name} cannot be read${why}`
  return new GatewayError('server_error', { message, cause, fault: 'gateway_store', shouldRetry: false })
}
