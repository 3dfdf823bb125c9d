/** A buffer for uploads that overflows from memory to a temporary file. */
import { randomUUID } from 'node:crypto'
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayError } from '../errors.ts'
import { ignore } from './ignore.ts'

/** Bytes read from disk at once. */
const pieceBytes = 256 * 1024

/** Stores bytes in memory or in a temporary file, which is deleted at the latest when the process ends. */
export class Spool implements AsyncIterable<Uint8Array> {
  size = 0
  /** The pieces that are not on disk yet: all, or the last ones. */
  #pieces: Uint8Array[] = []
  #stored = 0
  #file: FileHandle | undefined
  #disposed = false
  readonly #batchBytes: number

  /** `batchBytes`: bytes that `store` collects in memory before it writes them to disk. */
  constructor(batchBytes: number) {
    this.#batchBytes = batchBytes
  }

  /** Adds a piece in memory. */
  hold(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.size += piece.length
  }

  /** Adds a piece, and writes a full batch to disk. Throws 503 if that fails. */
  async store(piece: Uint8Array): Promise<void> {
    this.hold(piece)
    const bytes = this.size - this.#stored
    if (bytes < this.#batchBytes) return
    try {
      this.#file ??= await openUnlinked()
      if (this.#disposed) return this.dispose()
      const { bytesWritten } = await this.#file.writev(this.#pieces, this.#stored)
      if (bytesWritten < bytes) throw new Error('the disk is full')
    } catch (cause) {
      if (this.#disposed) return
      throw new GatewayError('service_unavailable', { cause, retryAfterMs: 1_000 })
    }
    this.#stored = this.size
    this.#pieces = []
  }

  /** All bytes from the beginning. Can be iterated any number of times. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#stored;) {
      const batch = Buffer.allocUnsafe(Math.min(pieceBytes, this.#stored - at))
      const { bytesRead = 0 } = (await this.#file?.read(batch, 0, batch.length, at)) ?? {}
      if (bytesRead === 0) throw new Error('the temporary file of the upload was closed or truncated')
      yield batch.subarray(0, bytesRead)
      at += bytesRead
    }
    yield* this.#pieces
  }

  dispose(): void {
    this.#disposed = true
    this.#pieces = []
    const file = this.#file
    this.#file = undefined
    // `close` waits for pending reads and writes.
    file?.close().catch(ignore)
  }
}

/**
 * Opens a temporary file and unlinks it at once, so that it disappears with the process. Readable by this user only.
 */
async function openUnlinked(): Promise<FileHandle> {
  const path = join(tmpdir(), `modelhatch-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  try {
    await unlink(path)
  } catch (error) {
    await file.close()
    throw error
  }
  return file
}
