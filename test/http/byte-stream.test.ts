import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { byteStream } from '../../src/http/byte-stream.ts'
import type { Sink } from '../../src/http/exchange.ts'

/** A client that notes its pieces; it reads while `reads` is true. */
class Client implements Sink {
  readonly notes: string[] = []
  closed = false
  reads = true
  #drained: (() => void) | undefined

  write(piece: string | Uint8Array): boolean {
    this.notes.push(Buffer.from(piece as Uint8Array).toString())
    return this.reads
  }

  drained(): Promise<void> {
    return new Promise((resolve) => (this.#drained = resolve))
  }

  read(): void {
    this.reads = true
    this.#drained?.()
  }

  end(): void {
    this.notes.push('end')
  }

  destroy(): void {
    this.notes.push('cut')
    this.closed = true
    this.read()
  }
}

/** The pieces of a source, and whether its reader has ended it. */
function sourceOf(...pieces: string[]) {
  const source = { pulled: 0, released: false, bytes: read() }
  async function* read() {
    try {
      for (const piece of pieces) {
        if (piece === 'boom') throw new Error(piece)
        source.pulled++
        yield Buffer.from(piece)
      }
    } finally {
      source.released = true
    }
  }
  return source
}

test('writes all pieces, and ends', async () => {
  const client = new Client()
  byteStream(sourceOf('a', 'b').bytes, 60_000).start(client)
  await turn()
  expect(client.notes).toEqual(['a', 'b', 'end'])
})

test('reads nothing more while the client does not read, and ends only when it has read all', async () => {
  const client = new Client()
  const source = sourceOf('a', 'b')
  client.reads = false
  byteStream(source.bytes, 60_000).start(client)
  await turn()
  expect([client.notes, source.pulled]).toEqual([['a'], 1])
  client.read()
  await turn()
  expect(client.notes).toEqual(['a', 'b', 'end'])
})

test('cuts the connection of a client that reads nothing for too long, and ends the source', async () => {
  const client = new Client()
  const source = sourceOf('a', 'b')
  client.reads = false
  byteStream(source.bytes, 5).start(client)
  await expect.poll(() => source.released).toBe(true)
  expect(client.notes).toEqual(['a', 'cut'])
})

test('cuts the connection if the source fails, so that the body does not look complete', async () => {
  const client = new Client()
  byteStream(sourceOf('a', 'boom').bytes, 60_000).start(client)
  await turn()
  expect(client.notes).toEqual(['a', 'cut'])
})

test('ends the source of a client that has left before or since', async () => {
  for (const early of [true, false]) {
    const client = new Client()
    const source = sourceOf('a', 'b', 'c')
    client.closed = early
    byteStream(source.bytes, 60_000).start(client)
    client.closed = true
    await turn()
    expect([client.notes, source.released]).toEqual([[], true])
  }
})
