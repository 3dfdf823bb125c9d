/** Compressed request bodies. A small one can hold a very large text, so what comes out is bounded by what went in. */
import { pipeline, Transform, type Readable } from 'node:stream'
import zlib from 'node:zlib'
import { GatewayError, invalid } from '../errors.ts'
import { header, type Exchange } from './exchange.ts'
import type { Sizes } from './sizes.ts'

// A name that an older Node.js lacks would break the import, before `createGateway` can say which one is needed.
const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
}

/** So many bytes may come out whatever went in: a text of one repeated letter is no attack while it is short. */
const harmlessBytes = 1024 * 1024

/**
 * The body as it was before it was compressed; the same stream where it was not. Throws 415 for an encoding that is not
 * known, or several. The stream fails with 400 where the data is broken, and with 413 where it grows beyond
 * `sizes.inflateRatio`; the total is its reader's to bound. The source is never destroyed: its connection carries the
 * answer.
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
  source.on('error', ignore).on('data', (piece: Buffer | string) => bounded.takes(piece.length))
  source.once('close', () => {
    if (!source.readableEnded) bounded.destroy(new GatewayError('client_closed'))
  })
  source.pipe(inflater)
  return bounded
}

/** Why a stream ended early: what was found wrong with its data, else that the client has gone. */
export function endOf(stream: Readable): GatewayError {
  const { errored } = stream
  return stream instanceof Bounded && errored ? broken(errored) : new GatewayError('client_closed')
}

/** Passes on what was inflated, as long as it is in proportion. */
class Bounded extends Transform {
  readonly #ratio: number
  #taken = 0
  #given = 0

  constructor(ratio: number) {
    super()
    this.#ratio = ratio
  }

  /** So many compressed bytes have come. */
  takes(bytes: number): void {
    this.#taken += bytes
  }

  override _transform(piece: Buffer, _: BufferEncoding, done: (error: Error | null, piece?: Buffer) => void): void {
    this.#given += piece.length
    if (this.#given > Math.max(harmlessBytes, this.#taken * this.#ratio)) done(outOfProportion(this.#ratio))
    else done(null, piece)
  }
}

function unknownEncoding(): GatewayError {
  const message = `The body may have one "Content-Encoding": ${Object.keys(inflaters).join(', ')}, or none.`
  return new GatewayError('unsupported_media_type', { message })
}

function outOfProportion(ratio: number): GatewayError {
  const message = `The request body grows to more than ${ratio} times its compressed size. Send it uncompressed.`
  return new GatewayError('request_too_large', { message })
}

function broken(error: Error): GatewayError {
  if (error instanceof GatewayError) return error
  return invalid('The request body is not compressed as its "Content-Encoding" says.', undefined, error)
}

function ignore(): void {}
