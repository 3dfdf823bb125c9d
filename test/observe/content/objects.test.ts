/** Content in the files of a directory, and in the memory of an object store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { objectContentStore, type ObjectBucket } from 'modelhatch'
import { testContentStore } from 'modelhatch/testing'
import { afterAll, describe, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'modelhatch-objects-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Files with flat names. */
function directoryBucket(root: string): ObjectBucket {
  const fileOf = (name: string) => join(root, name)
  return {
    async put(name, bytes) {
      await mkdir(dirname(fileOf(name)), { recursive: true })
      const temporary = `${fileOf(name)}.${Math.random()}`
      await writeFile(temporary, bytes)
      await rename(temporary, fileOf(name))
    },
    get: (name) => readFile(fileOf(name)).catch(() => undefined),
    async list(prefix, after, limit) {
      const files = await readdir(fileOf(dirname(`${prefix}x`)), { recursive: true, withFileTypes: true }).catch(
        () => [],
      )
      const names = files
        .filter((file) => file.isFile())
        .map((file) => join(file.parentPath, file.name).slice(root.length + 1))
      return names
        .filter((name) => name.startsWith(prefix) && name > after && !/\.0\.\d+$/.test(name))
        .sort()
        .slice(0, limit)
    },
    delete: async (names) => void (await Promise.all(names.map((name) => rm(fileOf(name), { force: true })))),
  }
}

describe('a directory', () => {
  testContentStore(test, () => objectContentStore(directoryBucket(folder)), {
    reopen: () => objectContentStore(directoryBucket(folder)),
  })
})

describe('objects', () => {
  const objects = new Map<string, Uint8Array>()
  const bucket: ObjectBucket = {
    put: (name, bytes) => void objects.set(name, bytes),
    get: (name) => objects.get(name),
    list: (prefix, after, limit) =>
      [...objects.keys()]
        .filter((name) => name.startsWith(prefix) && name > after)
        .sort()
        .slice(0, limit),
    delete: (names) => names.forEach((name) => objects.delete(name)),
  }
  testContentStore(test, () => objectContentStore(bucket))

  test('have names without accounts, users and sessions, and nothing is left of a record that was deleted', async () => {
    objects.clear()
    const store = objectContentStore(bucket)
    const record = { id: 'req_1', account: 'acme', user: 'ada', session: 'thread', day: '2030-01-01', key: 'k', at: 1 }
    await store.append([{ ...record, body: Buffer.of(1) }])
    const names = [...objects.keys()]
    expect(names).toHaveLength(3)
    expect(names.join()).not.toMatch(/acme|ada|thread/)
    for (const name of names) expect(name).toMatch(/^[\w.\-/]{1,400}$/)
    await store.erase('acme')
    expect(objects.size).toBe(0)
  })

  test('that are deleted while they are listed do not end the list', async () => {
    objects.clear()
    const store = objectContentStore(bucket)
    const record = { account: 'acme', user: 'ada', session: 'thread', day: '2030-01-01', key: 'k' }
    const all = Array.from({ length: 6 }, (_, at) => ({ ...record, id: `req_${at}`, at, body: Buffer.of(at) }))
    await store.append(all)
    for (const name of objects.keys()) if (/^content.*000[12]\./.test(name)) objects.delete(name)
    for (const session of [undefined, 'thread']) {
      const ids: string[] = []
      let after: string | undefined
      do {
        const page = await store.list({
          account: 'acme',
          limit: 2,
          ...(session && { session }),
          ...(after && { after }),
        })
        ids.push(...page.items.map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      expect(ids).toEqual(['req_0', 'req_3', 'req_4', 'req_5'])
    }
  })
})
