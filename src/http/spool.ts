/** Bytes put aside: in memory while they are few, and on disk behind that, where nothing of them ever stays. */
import { randomUUID } from 'node:crypto'
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayError } from '../errors.ts'

const pieceBytes = 64 * 1024

export class Spool implements AsyncIterable<Uint8Array> {
  size = 0
  #pieces: Uint8Array[] = []
  #file: FileHandle | undefined
  #disposed = false

  /** Puts a piece aside in memory. Not after `store`. */
  hold(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.size += piece.length
  }

  /** Puts a piece aside on disk, with all that was held in memory before it. Throws 503 when the disk does not take it. */
  async store(piece: Uint8Array): Promise<void> {
    this.hold(piece)
    try {
      this.#file ??= await openNameless()
      if (this.#disposed) return this.dispose()
      const pieces = this.#pieces
      this.#pieces = []
      let at = this.size - pieces.reduce((sum, { length }) => sum + length, 0)
      for (const each of pieces) {
        for (let written = 0; written < each.length; at += written) {
          written += (await this.#file.write(each, written, each.length - written, at)).bytesWritten
        }
      }
    } catch (cause) {
      if (this.#disposed) return
      throw new GatewayError('service_unavailable', { cause, retryAfterMs: 1_000 })
    }
  }

  /** All bytes, from the beginning, as often as wanted. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const file = this.#file
    if (file !== undefined) {
      const stored = this.size
      for (let at = 0; at < stored;) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, stored - at))
        const { bytesRead } = await file.read(piece, 0, piece.length, at)
        if (bytesRead === 0) throw new Error('a file was shortened while it was read')
        yield piece.subarray(0, bytesRead)
        at += bytesRead
      }
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
