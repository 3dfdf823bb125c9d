/** Reading a JSON body from the socket, within limits, or from what the host's own body parser left of it. */
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { GatewayError, invalid } from '../errors.ts'
import { cancellationOf, type Cancellation } from './cancellation.ts'
import { header, type Exchange, type PresetExchange, type Presets } from './exchange.ts'
import { discard, endOf, inflated } from './inflate.ts'
import { isLarge, JsonBody, tooLarge } from './json-body.ts'
import { parseMediaType } from './media-type.ts'
import type { Sizes } from './sizes.ts'
import { ignore } from './ignore.ts'

/**
 * The JSON body of a request, with the presets of the exchange filled in. `own`: default values that the endpoint
 * documents; they override the defaults of the presets. Throws or rejects with 400 (not JSON), 408 (stopped arriving), 413 (too large),
 * 415 (other media type or encoding).
 */
export function readJson(
  exchange: PresetExchange,
  sizes: Sizes,
  own?: Readonly<Record<string, string>>,
): JsonBody | Promise<JsonBody> {
  const body = readBody(exchange, sizes)
  const { presets } = exchange
  if (presets === undefined && own === undefined) return body
  return body instanceof Promise
    ? body.then((read) => preset(read, sizes, presets, own))
    : preset(body, sizes, presets, own)
}

function preset(
  body: JsonBody,
  sizes: Sizes,
  { fixed, defaults }: Partial<Presets> & Pick<Presets, 'fixed'> = { fixed: {} },
  own?: Readonly<Record<string, string>>,
): JsonBody | Promise<JsonBody> {
  const changes: Record<string, string> = { ...fixed }
  for (const [name, value] of Object.entries({ ...defaults, ...own })) {
    if (!Object.hasOwn(fixed, name) && isUnset(body.get(name))) changes[name] = value
  }
  return Object.keys(changes).length === 0 ? body : bodyFrom(body.with(changes), sizes)
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function readBody(exchange: Exchange, sizes: Sizes): JsonBody | Promise<JsonBody> {
  requireJson(exchange)
  const { body } = exchange
  switch (body.state) {
    case 'unread': {
      const declared = Number(header(exchange, 'content-length') ?? 0)
      if (declared > sizes.jsonBytes) throw tooLarge(sizes.jsonBytes)
      const stream = inflated(exchange, body.stream, sizes)
      const bytes = readAll(stream, sizes.jsonBytes, sizes.bodyIdleMs, cancellationOf(exchange))
      return bytes.then((all) => bodyFrom(all, sizes))
    }
    case 'text':
      return bodyFrom(bytesOf(body.text), sizes)
    case 'parsed':
      return JsonBody.fromValue(body.value, sizes)
    case 'failed':
      throw parserError(body.status, 'We could not parse the JSON body of your request.')
    case 'lost':
      throw invalid(
        'The request body was read before it reached this endpoint. Mount the gateway before the body parser of the server.',
      )
  }
}

const emptyObject = Buffer.from('{}')

/** An empty body counts as `{}`, as it does for the hosts' parsers, so that the error names the missing field. */
export function bodyFrom(bytes: Buffer, sizes: Sizes): JsonBody | Promise<JsonBody> {
  if (isLarge(bytes)) return largeBodyFrom(bytes, sizes)
  return JsonBody.fromBytes(bytes.length === 0 ? emptyObject : bytes, sizes)
}

async function largeBodyFrom(bytes: Buffer, sizes: Sizes): Promise<JsonBody> {
  // Yields to other requests between concatenating the chunks, validating the text and processing it.
  await nextTurn()
  const body = JsonBody.fromBytes(bytes, sizes)
  await nextTurn()
  return body
}

/** The error for a body that the host's parser rejected with `status`; the body itself is no longer available. */
export function parserError(status: number, message: string): GatewayError {
  if (status === 413) return new GatewayError('request_too_large')
  if (status === 415) return new GatewayError('unsupported_media_type')
  if (status >= 400 && status < 500) return invalid(message)
  return new GatewayError('server_error')
}

function requireJson(exchange: Exchange): void {
  const value = header(exchange, 'content-type')
  if (value === undefined || value === 'application/json') return
  const type = parseMediaType(value)
  const charset = type?.parameters.get('charset')?.toLowerCase() ?? 'utf-8'
  if (type?.essence !== 'application/json' || (charset !== 'utf-8' && charset !== 'utf8')) {
    throw new GatewayError('unsupported_media_type')
  }
}

function bytesOf(text: string | Uint8Array): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength)
}

/** All bytes of a stream. Rejects with 413 beyond `maxBytes`, and with 408 after `idleMs` milliseconds without data. */
export function readAll(stream: Readable, maxBytes: number, idleMs: number, client: Cancellation): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    const idle = setTimeout(() => finish(new GatewayError('request_timeout')), idleMs)
    idle.unref()

    const onData = (read: Buffer | string) => {
      // Chunks are strings if the host called `setEncoding`.
      const piece = typeof read === 'string' ? Buffer.from(read, stream.readableEncoding ?? 'utf8') : read
      size += piece.length
      if (size > maxBytes) return finish(tooLarge(maxBytes))
      pieces.push(piece)
      idle.refresh()
    }
    const onEnd = () => finish(undefined)
    const onClose = () => finish(endOf(stream))
    const onAbort = { handleEvent: onClose }
    const finish = (error: GatewayError | undefined) => {
      clearTimeout(idle)
      stream.off('data', onData).off('end', onEnd).off('close', onClose)
      client.removeEventListener('abort', onAbort)
      if (error === undefined) return resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size))
      discard(stream)
      reject(error)
    }
    // `close`, which always follows an error, is what is handled; without this listener the error would crash the host.
    stream.on('error', ignore)
    stream.on('data', onData).on('end', onEnd).on('close', onClose)
    client.addEventListener('abort', onAbort)
    if (stream.isPaused()) stream.resume()
    if (stream.destroyed || client.aborted) onClose()
  })
}
