/** Bytes put aside: in memory while they are few, and on disk behind that, where nothing of them ever stays. */
import { randomUUID } from 'node:crypto'
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayError } from '../errors.ts'

/** Bytes read from disk at once. */
const pieceBytes = 256 * 1024

export class Spool implements AsyncIterable<Uint8Array> {
  size = 0
  /** What is not on disk: the end, or all of it. */
  #pieces: Uint8Array[] = []
  #stored = 0
  #file: FileHandle | undefined
  #disposed = false
  readonly #batchBytes: number

  /** `batchBytes`: what is gathered in memory before it is written to disk. */
  constructor(batchBytes: number) {
    this.#batchBytes = batchBytes
  }

  /** Puts a piece aside in memory. */
  hold(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.size += piece.length
  }

  /** Puts a piece aside, on disk as soon as there are enough of them. Throws 503 when the disk does not take it. */
  async store(piece: Uint8Array): Promise<void> {
    this.hold(piece)
    const bytes = this.size - this.#stored
    if (bytes < this.#batchBytes) return
    try {
      this.#file ??= await openNameless()
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

  /** All bytes, from the beginning, as often as wanted. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#stored;) {
      const batch = Buffer.allocUnsafe(Math.min(pieceBytes, this.#stored - at))
      const { bytesRead = 0 } = (await this.#file?.read(batch, 0, batch.length, at)) ?? {}
      if (bytesRead === 0) throw new Error('the file is gone')
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
    // Waits by itself for what is still being written or read.
    file?.close().catch(ignore)
  }
}

/** A file only we can read, whose name is gone as soon as it is open: it ends with this process at the latest. */
async function openNameless(): Promise<FileHandle> {
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

function ignore(): void {}
