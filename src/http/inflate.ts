/** Decompression of request bodies, bounded in proportion to the compressed size against decompression bombs. */
import { pipeline, Transform, type Readable } from 'node:stream'
import zlib from 'node:zlib'
import { GatewayError, invalid } from '../errors.ts'
import { header, type Exchange } from './exchange.ts'
import type { Sizes } from './sizes.ts'
import { ignore } from './ignore.ts'

// Not named imports: one that an older Node.js lacks would break the import before `createGateway` can report the
// version.
const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
}

/**
 * Up to this many bytes the ratio is not checked: short repetitive texts compress very well without being an attack.
 */
const harmlessBytes = 1024 * 1024

/**
 * The decompressed body; `source` itself if it is not compressed. Throws 415 for an unknown encoding and for more than
 * one. The stream fails with 400 if the data is corrupt and with 413 beyond `sizes.inflateRatio`; the reader must bound
 * the total size. `source` is never destroyed, because its connection carries the response.
 */
export function inflated(exchange: Exchange, source: Readable, sizes: Pick<Sizes, 'inflateRatio'>): Readable {
  const encoding = header(exchange, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return source
  const make = Object.hasOwn(inflaters, encoding) ? inflaters[encoding] : undefined
  if (make === undefined) throw unknownEncoding()
  const inflater = make()
  const bounded = new Bounded(sizes.inflateRatio)
  bounded.on('error', ignore)
  pipeline(inflater, bounded, () => {
    source.unpipe(inflater).resume()
  })
  source.on('error', ignore).on('data', (piece: Buffer | string) => bounded.countInput(piece.length))
  source.once('close', () => {
    if (!source.readableEnded) bounded.destroy(new GatewayError('client_closed'))
  })
  source.pipe(inflater)
  return bounded
}

/** Why a body ended early: the error of its decompression, otherwise that the client disconnected. */
export function endOf(stream: Readable): GatewayError {
  const { errored } = stream
  return stream instanceof Bounded && errored ? broken(errored) : new GatewayError('client_closed')
}

/**
 * Discards what is left of a body: unread data would block the connection, which still has to carry the response. It need not be
 * decompressed for that.
 */
export function discard(body: Readable): void {
  if (body instanceof Bounded) body.destroy()
  else body.resume()
}

/** Passes decompressed data through until it exceeds the allowed ratio. */
class Bounded extends Transform {
  readonly #ratio: number
  #inputBytes = 0
  #outputBytes = 0

  constructor(ratio: number) {
    super()
    this.#ratio = ratio
  }

  /** Counts compressed bytes. */
  countInput(bytes: number): void {
    this.#inputBytes += bytes
  }

  override _transform(piece: Buffer, _: BufferEncoding, done: (error: Error | null, piece?: Buffer) => void): void {
    this.#outputBytes += piece.length
    if (this.#outputBytes > Math.max(harmlessBytes, this.#inputBytes * this.#ratio)) done(ratioExceeded(this.#ratio))
    else done(null, piece)
  }
}

function unknownEncoding(): GatewayError {
  const message = `Unsupported "Content-Encoding". Send one of ${Object.keys(inflaters).join(', ')}, or none.`
  return new GatewayError('unsupported_media_type', { message })
}

function ratioExceeded(ratio: number): GatewayError {
  const message = `The request body grows to more than ${ratio} times its compressed size. Send it uncompressed.`
  return new GatewayError('request_too_large', { message })
}

function broken(error: Error): GatewayError {
  if (error instanceof GatewayError) return error
  return invalid('The request body could not be decompressed as its "Content-Encoding" declares.', undefined, error)
}
