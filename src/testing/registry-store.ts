import assert from 'node:assert/strict'
import type { RegistryEntry, RegistryStore } from '../models/stored/contract.ts'
import { fresh, oddNames, race, suiteOf, withinOneSecond, type StoreKitOptions, type TestFunction } from './kit.ts'

/**
 * Registers one test for each requirement of the `RegistryStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty.
 * @example
 * ```ts
 * testRegistryStore(test, () => myStore())
 * ```
 */
export function testRegistryStore(
  test: TestFunction,
  factory: () => Promise<RegistryStore> | RegistryStore,
  options: StoreKitOptions<RegistryStore> = {},
): void {
  const { it } = suiteOf('registry store', test, factory, options)

  it('an entry comes back unchanged, through every handle', async (store, other) => {
    const entries: RegistryEntry[] = [
      { kind: 'model', id: fresh('model/*'), version: 1, value: { names: oddNames, none: null, is: false, of: 1.5 } },
      { kind: 'group', id: fresh(`UPPER "quoted" 'single' \\ %s $1 ? {x}`), version: 1, value: {} },
      { kind: 'price', id: fresh('price'), version: 1, value: { text: 'x'.repeat(50_000) } },
    ]
    for (const entry of entries) {
      assert.equal(await store.put(entry), true)
      assert.deepEqual(await found(other, entry), entry)
    }
  })

  it('entries are told apart by kind, and by id byte for byte', async (store, other) => {
    const id = fresh('name')
    const entries = [entryOf(id), { ...entryOf(id), kind: 'group' as const }, entryOf(id.toUpperCase())]
    for (const [at, entry] of entries.entries()) assert.equal(await store.put({ ...entry, value: { at } }), true)
    for (const [at, entry] of entries.entries()) assert.deepEqual((await found(other, entry))?.value, { at })
  })

  it('only the next version replaces an entry', async (store, other) => {
    const entry = entryOf(fresh('model'))
    assert.equal(await store.put({ ...entry, version: 2 }), false)
    assert.equal(await store.put(entry), true)
    assert.equal(await other.put({ ...entry, value: { second: true } }), false)
    assert.equal(await other.put({ ...entry, version: 3 }), false)
    assert.deepEqual(await found(store, entry), entry)
    const next = { ...entry, version: 2, value: { changed: true } }
    assert.equal(await other.put(next), true)
    assert.deepEqual(await found(store, entry), next)
  })

  it('a removed entry stays without its value, and can be set again', async (store, other) => {
    const entry = entryOf(fresh('model'))
    const { value: _, ...removed } = { ...entry, version: 2 }
    await store.put(entry)
    assert.equal(await store.put(removed), true)
    assert.deepEqual(await found(other, entry), removed)
    assert.equal(await other.put(entry), false)
    assert.equal(await other.put({ ...entry, version: 3 }), true)
    assert.deepEqual(await found(store, entry), { ...entry, version: 3 })
  })

  it('exactly one of many concurrent changes is accepted', async (store, other) => {
    const entry = entryOf(fresh('model'))
    for (let version = 1; version <= 3; version++) {
      const accepted = await race(10, [store, other], (handle, at) => handle.put({ ...entry, version, value: { at } }))
      assert.equal(accepted.filter(Boolean).length, 1)
      assert.deepEqual((await found(store, entry))?.value, { at: accepted.indexOf(true) })
    }
  })

  it('watch reports changes of every handle within one second, until it is ended', async (store, other) => {
    if (store.watch === undefined) return
    let count = 0
    const end = store.watch(() => count++)
    const entry = entryOf(fresh('model'))
    try {
      for (const [at, handle] of [other, store].entries()) {
        const before = count
        assert.equal(await handle.put({ ...entry, version: at + 1 }), true)
        const told = await withinOneSecond(
          () => count > before,
          async () => store.all(),
        )
        assert.ok(told, 'no call within one second of the change')
      }
    } finally {
      end()
    }
    const ended = count
    await other.put({ ...entry, version: 3 })
    await new Promise((resolve) => setTimeout(resolve, 600))
    assert.equal(count, ended)
  })
}

async function found(store: RegistryStore, { kind, id }: RegistryEntry): Promise<RegistryEntry | undefined> {
  return (await store.all()).find((each) => each.kind === kind && each.id === id)
}

function entryOf(id: string): RegistryEntry {
  return { kind: 'model', id, version: 1, value: { first: true } }
}
