/** Files in a directory, which all processes must share. */
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileStorage } from './contract.ts'

/** The end of the names of files that are being written. */
const partial = '.part'
/** Age in milliseconds of a partial file that a process has left behind when it died. */
const abandonedMs = 86_400_000
/** Bytes that are written at once. */
const batchBytes = 256 * 1024

/**
 * Keeps files in a directory, such as `fileDirectory('/var/lib/gateway/files')`. It is created at the first use, readable by this
 * user only. Several processes can use the same one; on several machines it must be on a file system that they share.
 */
export function fileDirectory(path: string): FileStorage {
  if (typeof path !== 'string' || path === '') throw new TypeError('fileDirectory: needs the path of a directory')
  let opened: Promise<void> | undefined
  const ready = () =>
    (opened ??= prepared(path).catch((error: unknown) => ((opened = undefined), Promise.reject(error))))
  const placeOf = (name: string): string => {
    if (!/^[\w-]{1,80}$/.test(name)) throw new TypeError(`"${name}" is not the name of a file`)
    return join(path, name)
  }
  return {
    async put(name, bytes) {
      const place = placeOf(name)
      await ready()
      const part = `${place}.${randomUUID()}${partial}`
      try {
        await write(part, bytes)
        await rename(part, place)
      } catch (error) {
        await rm(part, { force: true })
        throw error
      }
    },
    async get(name) {
      const handle = await open(placeOf(name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      return handle && createReadStream('', { fd: handle, highWaterMark: batchBytes })
    },
    async delete(name) {
      await rm(placeOf(name), { force: true })
    },
  }
}

async function prepared(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  for (const name of await readdir(path)) {
    if (!name.endsWith(partial)) continue
    const { mtimeMs } = await stat(join(path, name)).catch(() => ({ mtimeMs: Infinity }))
    if (mtimeMs < Date.now() - abandonedMs) await rm(join(path, name), { force: true })
  }
}

async function write(place: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(place, 'wx', 0o600)
  try {
    let pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of bytes) {
      pieces.push(piece)
      size += piece.length
      if (size < batchBytes) continue
      await writeAll(handle, pieces, size)
      pieces = []
      size = 0
    }
    await writeAll(handle, pieces, size)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function writeAll(handle: FileHandle, pieces: readonly Uint8Array[], size: number): Promise<void> {
  if (size > 0) await handle.writeFile(Buffer.concat(pieces, size))
}
