/** The contents of files: failures of their storage are 503, and lines are written as they come. */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { GatewayError } from '../../errors.ts'
import { ignore } from '../../http/ignore.ts'
import type { FileStorage } from './contract.ts'

/** The storage with failures that fit a client. */
export class StoredContent {
  readonly #storage: FileStorage

  constructor(storage: FileStorage) {
    this.#storage = storage
  }

  /** Rejects with the error of `bytes`, if it is one for the client. */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return reached(() => this.#storage.put(name, bytes))
  }

  /** Rejects if there is nothing. */
  async get(name: string): Promise<AsyncIterable<Uint8Array>> {
    const bytes = await reached(() => this.#storage.get(name))
    if (bytes === undefined) throw unavailable(new Error(`the storage of files has lost "${name}"`))
    return bytes
  }

  delete(name: string): Promise<void> {
    return reached(() => this.#storage.delete(name))
  }

  async close(): Promise<void> {
    await this.#storage.close?.()
  }

  /** Writes a file piece by piece. */
  writer(name: string): FileWriter {
    return new FileWriter((bytes) => this.put(name, bytes))
  }
}

/** Writes one file as its pieces come, at the pace of the storage. */
export class FileWriter {
  /** Bytes so far. */
  bytes = 0
  readonly #stream = new PassThrough({ highWaterMark: 256 * 1024 })
  readonly #stored: Promise<void>

  constructor(put: (bytes: AsyncIterable<Uint8Array>) => Promise<void>) {
    this.#stream.on('error', ignore)
    this.#stored = put(this.#stream)
    // The storage may fail before it has read all.
    this.#stored.catch((error: unknown) => this.#stream.destroy(error as Error))
  }

  async write(...pieces: readonly (string | Uint8Array)[]): Promise<void> {
    for (const piece of pieces) {
      if (this.#stream.destroyed) return this.#stored
      this.bytes += Buffer.byteLength(piece)
      if (!this.#stream.write(piece)) await Promise.race([once(this.#stream, 'drain'), this.#stored])
    }
  }

  /** Resolves once the whole file is stored. */
  async end(): Promise<void> {
    this.#stream.end()
    await this.#stored
  }

  /** Stores nothing. */
  stop(): void {
    this.#stream.destroy(new Error('the file is not written to its end'))
  }
}

async function reached<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw GatewayError.is(error) ? error : unavailable(error)
  }
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('service_unavailable', { cause, retryAfterMs: 1_000, fault: 'gateway_store' })
}
