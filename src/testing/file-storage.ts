import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { FileStorage } from '../tasks/files/contract.ts'
import { race, suiteOf, type StoreKitOptions, type TestFunction } from './kit.ts'

/**
 * Registers one test for each requirement of the `FileStorage` contract.
 *
 * @param factory Opens the storage of one test. It need not be empty.
 * @example
 * ```ts
 * testFileStorage(test, () => fileDirectory('/tmp/files'))
 * ```
 */
export function testFileStorage(
  test: TestFunction,
  factory: () => Promise<FileStorage> | FileStorage,
  options: StoreKitOptions<FileStorage> = {},
): void {
  const { it } = suiteOf('file storage', test, factory, options)

  it('bytes come back unchanged, through every handle', async (storage, other) => {
    const bytes = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => index % 251))
    const name = freshName()
    await storage.put(name, inPieces(bytes, 70_001))
    assert.ok(bytes.equals((await read(other, name)) ?? Buffer.alloc(0)), 'the bytes have changed')
    await storage.put(name, inPieces(Buffer.alloc(0), 1))
    assert.equal((await read(other, name))?.length, 0)
  })

  it('an unknown name and a deleted one have nothing, and deleting is repeatable', async (storage, other) => {
    const name = `${freshName()}_${'x'.repeat(40)}`
    assert.equal(await storage.get(name), undefined)
    await storage.put(name, inPieces(Buffer.from('some'), 1))
    await other.delete(name)
    await storage.delete(name)
    assert.equal(await storage.get(name), undefined)
  })

  it('what fails to be written leaves what was there', async (storage, other) => {
    const name = freshName()
    await assert.rejects(storage.put(name, failsAfter(300_000)), /broken off/)
    assert.equal(await other.get(name), undefined)
    await storage.put(name, inPieces(Buffer.from('first'), 2))
    await assert.rejects(storage.put(name, failsAfter(300_000)), /broken off/)
    assert.equal(String(await read(other, name)), 'first')
  })

  it('of concurrent writes one stays, as a whole', async (storage, other) => {
    const name = freshName()
    const texts = Array.from({ length: 6 }, (_, index) => String(index).repeat(100_000))
    await race(6, [storage, other], (each, index) => each.put(name, inPieces(Buffer.from(texts[index] ?? ''), 9_999)))
    assert.ok(texts.includes(String(await read(storage, name))), 'the file is a mixture')
  })
}

function freshName(): string {
  return `file-${randomUUID()}`.slice(0, 38)
}

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function* failsAfter(bytes: number): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.alloc(bytes)
  throw new Error('broken off')
}

async function read(storage: FileStorage, name: string): Promise<Buffer | undefined> {
  const bytes = await storage.get(name)
  if (bytes === undefined) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}
