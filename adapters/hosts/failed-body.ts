import type { RequestBody } from '../../src/index.ts'

/**
 * The state of the request body after an error of the host's body parser. Recognises the documented error types of
 * `body-parser` and `raw-body` and the properties that `co-body` sets; undefined for all other errors.
 */
export function failedBody(error: unknown): RequestBody | undefined {
  const { status: given, type, code, body } = Object(error) as Record<string, unknown>
  // Decompression errors are passed on as zlib throws them, in Koa without a status.
  const isZlib = type === undefined && /^(?:Z_|ERR__)/.test(String(code))
  const status = isZlib ? (given ?? 400) : given
  if (typeof status !== 'number') return undefined
  if (isZlib && status === 400) return { state: 'failed', status }
  // Koa's parsers set `body` to the text that they could not parse.
  if (type === undefined && status === 400 && typeof body === 'string') return { state: 'failed', status }
  if (typeof type !== 'string') return undefined
  // The stream had been read before the parser ran.
  if (type.startsWith('stream.')) return { state: 'lost' }
  // The host's own `verify` function rejected the body: its error is the host's to answer.
  if (type === 'entity.verify.failed') return undefined
  return /^(?:entity|encoding|charset|request|parameters)\./.test(type) ? { state: 'failed', status } : undefined
}
