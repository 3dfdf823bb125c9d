/** Reading a JSON body: from the wire within limits, or from what an earlier parser of the host left of it. */
import type { Readable } from 'node:stream'
import { GatewayError, invalid } from '../errors.ts'
import { header, type Exchange } from './exchange.ts'
import { JsonBody, tooLarge } from './json-body.ts'
import { parseMediaType } from './media-type.ts'
import type { Sizes } from './sizes.ts'

/** Throws 400 (not JSON), 408 (does not arrive), 413 (too large), 415 (other media type or encoding). */
export async function readJson(exchange: Exchange, sizes: Sizes): Promise<JsonBody> {
  requireJson(exchange)
  const { body } = exchange
  switch (body.state) {
    case 'unread': {
      requireNoEncoding(exchange)
      const declared = Number(header(exchange, 'content-length') ?? 0)
      if (declared > sizes.jsonBytes) throw tooLarge(sizes.jsonBytes)
      return bodyFrom(await readAll(body.stream, sizes.jsonBytes, sizes.bodyIdleMs, exchange.signal), sizes)
    }
    case 'text':
      return bodyFrom(Buffer.from(body.text), sizes)
    case 'parsed':
      return JsonBody.fromValue(body.value, sizes)
    case 'failed':
      throw refusedBy(body.status, 'We could not parse the JSON body of your request.')
    case 'lost':
      throw invalid(
        'The request body was read before it reached this endpoint. Mount the gateway before the body parser of the server.',
      )
  }
}

const emptyObject = Buffer.from('{}')

/** The parsers of the hosts take no body for an empty object, and so do we: the answer then names the missing field. */
function bodyFrom(bytes: Buffer, sizes: Sizes): JsonBody {
  return JsonBody.fromBytes(bytes.length === 0 ? emptyObject : bytes, sizes)
}

/** What a parser in front of us means by its status: it knew the body, we only know that it refused it. */
export function refusedBy(status: number, message: string): GatewayError {
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

export function requireNoEncoding(exchange: Exchange): void {
  const encoding = header(exchange, 'content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw new GatewayError('unsupported_media_type')
}

/** All bytes of a stream, refused as soon as they are too many or stop coming. */
export function readAll(stream: Readable, maxBytes: number, idleMs: number, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    const idle = setTimeout(() => finish(new GatewayError('request_timeout')), idleMs)
    idle.unref()

    const onData = (read: Buffer | string) => {
      // Text, where the host has called `setEncoding`.
      const piece = typeof read === 'string' ? Buffer.from(read, stream.readableEncoding ?? 'utf8') : read
      size += piece.length
      if (size > maxBytes) return finish(tooLarge(maxBytes))
      pieces.push(piece)
      idle.refresh()
    }
    const onEnd = () => finish(undefined)
    const onClose = () => finish(new GatewayError('client_closed'))
    const finish = (error: GatewayError | undefined) => {
      clearTimeout(idle)
      stream.off('data', onData).off('end', onEnd).off('close', onClose)
      signal.removeEventListener('abort', onClose)
      if (error === undefined) return resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size))
      // The rest is read and thrown away: it must not hold the connection, and the answer has still to be written.
      stream.resume()
      reject(error)
    }
    // An error of the stream is always followed by its close; the listener keeps it from reaching the host.
    stream.on('error', ignore)
    stream.on('data', onData).on('end', onEnd).on('close', onClose)
    signal.addEventListener('abort', onClose)
    if (stream.isPaused()) stream.resume()
    if (stream.destroyed || signal.aborted) onClose()
  })
}

function ignore(): void {}
