/** What an error of a host's body parser says of the body. */
import type { RequestBody } from '../../src/index.ts'

/** Told by the documented types of `body-parser` and `raw-body`, and by the marks of `co-body`; other errors are the host's. */
export function failedBody(error: unknown): RequestBody | undefined {
  const { status: given, type, code, body } = Object(error) as Record<string, unknown>
  // Errors of decompression come as zlib throws them, in Koa without a status.
  const isZlib = type === undefined && /^(?:Z_|ERR__)/.test(String(code))
  const status = isZlib ? (given ?? 400) : given
  if (typeof status !== 'number') return undefined
  if (isZlib && status === 400) return { state: 'failed', status }
  // Koa's parsers leave on it the text that they could not parse.
  if (type === undefined && status === 400 && typeof body === 'string') return { state: 'failed', status }
  if (typeof type !== 'string') return undefined
  // Something else had read the stream before the parser came to it.
  if (type.startsWith('stream.')) return { state: 'lost' }
  // The host's own `verify` function has the last word on what it refuses.
  if (type === 'entity.verify.failed') return undefined
  return /^(?:entity|encoding|charset|request|parameters)\./.test(type) ? { state: 'failed', status } : undefined
}
