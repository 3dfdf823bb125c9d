/** Content is gone with its key, wherever copies of it are. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createGateway,
  memoryContentKeyStore,
  type ContentOptions,
  type Gateway,
  type GatewayOptions,
} from 'modelhatch'
import { sqlite } from 'modelhatch/sqlite'
import { demo } from 'modelhatch/providers'
import { expect, onTestFinished, test } from 'vitest'
import { askChat, hosted } from '../../hosted.ts'
import { encryptionKey, textsIn, worldWith } from './world.ts'
import { storeTimeouts } from '../../patience.ts'

const [first, second] = ['the first secret of the host, of 32', 'the second secret of the host, of 32']
const dayMs = 86_400_000

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'modelhatch-content-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

function gatewayOf(file: string, content: ContentOptions, options: Partial<GatewayOptions> = {}): Gateway {
  const gateway = createGateway({
    models: { m: demo() },
    keys: { 'sk-test': { account: 'acme' } },
    storage: sqlite(file),
    timeouts: storeTimeouts,
    ...options,
    content,
  })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  return gateway
}

/** Sends a chat and returns its id once its content is written. */
async function sent(gateway: Gateway, url: string, body: object = {}): Promise<string> {
  const response = await askChat(url, body)
  await response.text()
  await expect.poll(() => gateway.admin.content.counts().waiting).toBe(0)
  return response.headers.get('x-request-id') ?? ''
}

const copyOf = (file: string): string => {
  const copy = `${file}.copy`
  const database = new DatabaseSync(file)
  database.exec(`VACUUM INTO '${copy}'`)
  database.close()
  return copy
}

test('nothing of the content is in the database, whichever part of it is read', async () => {
  const file = join(folder(), 'gateway.db')
  const gateway = gatewayOf(file, { encryptionKey })
  await sent(gateway, await hosted(gateway), { messages: [{ role: 'user', content: 'PLAINTEXT'.repeat(20) }] })
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = ['modelhatch_content', 'modelhatch_content_keys'].flatMap((table) =>
    database.prepare(`SELECT * FROM ${table}`).all(),
  )
  database.close()
  expect(rows).toHaveLength(2)
  const all = rows.flatMap((row) =>
    Object.values(row).map((each) =>
      each instanceof Uint8Array ? Buffer.from(each).toString('latin1') : String(each),
    ),
  )
  expect(all.join('\n')).not.toContain('PLAINTEXT')
})

test('erased content cannot be decrypted from a copy of the database made before, if its keys are kept apart', async () => {
  const place = folder()
  const [file, keys] = [join(place, 'gateway.db'), sqlite(join(place, 'keys.db'))]
  const content = { encryptionKey, keyStore: keys.contentKeys }
  const gateway = gatewayOf(file, content)
  const id = await sent(gateway, await hosted(gateway))
  const copy = copyOf(file)
  const restored = gatewayOf(copy, content)
  expect(textsIn((await restored.admin.content.get(id))?.request)).toEqual(['Hi'])
  await gateway.admin.erase('acme')
  expect(await gateway.admin.content.get(id)).toBeUndefined()
  expect(await restored.admin.content.get(id)).toBeUndefined()
  // Also not after the account has got a new key.
  const next = await sent(gateway, await hosted(gateway))
  expect(await gateway.admin.content.get(next)).toBeDefined()
  expect(await restored.admin.content.get(id)).toBeUndefined()
})

test('the same after a rotation, with the keys in the copy', async () => {
  const file = join(folder(), 'gateway.db')
  const gateway = gatewayOf(file, { encryptionKey: first })
  const url = await hosted(gateway)
  const [gone, kept] = [await sent(gateway, url, { user: 'ada' }), await sent(gateway, url, { user: 'bob' })]
  const copy = copyOf(file)
  await gateway.admin.eraseUser('acme', 'ada')
  const rotating = gatewayOf(file, { encryptionKey: [second, first] })
  expect(await rotating.admin.content.rotate()).toEqual({ resealed: 1, unreadable: 0 })
  const restored = gatewayOf(copy, { encryptionKey: second })
  await expect(restored.admin.content.get(gone)).rejects.toMatchObject({
    message: expect.stringContaining('older secret'),
  })
  const current = gatewayOf(file, { encryptionKey: second })
  expect(await current.admin.content.get(gone)).toBeUndefined()
  expect(textsIn((await current.admin.content.get(kept))?.request)).toEqual(['Hi'])
})

test('the first secret encrypts, and all decrypt', async () => {
  const keyStore = memoryContentKeyStore()
  const file = join(folder(), 'gateway.db')
  const old = gatewayOf(file, { encryptionKey: first, keyStore })
  const before = await sent(old, await hosted(old), { user: 'ada' })
  const both = gatewayOf(file, { encryptionKey: [second, first], keyStore })
  const after = await sent(both, await hosted(both), { user: 'bob' })
  for (const id of [before, after]) expect(await both.admin.content.get(id)).toBeDefined()
  const sealed = (await keyStore.page(undefined, 10)).map((key) => key.sealed.split('.')[1])
  expect(new Set(sealed).size).toBe(2)
  expect(await both.admin.content.rotate()).toEqual({ resealed: 1, unreadable: 0 })
  expect(await both.admin.content.rotate()).toEqual({ resealed: 0, unreadable: 0 })
  const only = gatewayOf(file, { encryptionKey: second, keyStore })
  for (const id of [before, after]) expect(await only.admin.content.get(id)).toBeDefined()
  expect(await old.admin.content.rotate()).toEqual({ resealed: 0, unreadable: 2 })
})

test('a call whose key cannot be opened is dropped, and counted', async () => {
  const keyStore = memoryContentKeyStore()
  const file = join(folder(), 'gateway.db')
  const old = gatewayOf(file, { encryptionKey: first, keyStore })
  await sent(old, await hosted(old))
  const other = gatewayOf(file, { encryptionKey: second, keyStore })
  await sent(other, await hosted(other))
  expect(other.admin.content.counts()).toEqual({ written: 0, dropped: 1, waiting: 0 })
})

test('erasing a user leaves the content of others, and erasing the account none', async () => {
  const { post, kept, gateway, store, keyStore } = await worldWith({ usage: { record: true } })
  const ids = new Map<string, string>()
  for (const user of ['ada', 'bob'])
    ids.set(
      user,
      (
        await kept(
          await post('/v1/chat/completions', { model: 'm', user, messages: [{ role: 'user', content: 'Hi' }] }),
        )
      ).id,
    )
  await gateway.admin.eraseUser('acme', 'ada')
  expect(await gateway.admin.content.get(ids.get('ada') as string)).toBeUndefined()
  expect(await gateway.admin.content.get(ids.get('bob') as string)).toBeDefined()
  await gateway.admin.erase('acme')
  expect(await gateway.admin.content.get(ids.get('bob') as string)).toBeUndefined()
  expect(await store.list({ account: 'acme' })).toEqual({ items: [] })
  expect(await keyStore.page(undefined, 10)).toEqual([])
})

test('export has the content', async () => {
  const { post, kept, gateway } = await worldWith({ usage: { record: true } })
  const { id } = await kept(
    await post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
  )
  const contents = async (options: object) => {
    const found = []
    for await (const item of gateway.admin.export('acme', options)) if (item.kind === 'content') found.push(item.item)
    return found
  }
  expect(await contents({})).toMatchObject([{ id, account: 'acme' }])
  expect(await contents({ content: false })).toEqual([])
})

test('a day that is no longer kept loses its keys and its content, and a later one neither', async () => {
  let now = Date.UTC(2030, 0, 1, 12)
  const { url, store, keyStore, gateway, settled } = await worldWith({ clock: () => now, content: { keepDays: 2 } })
  const ids: string[] = []
  for (let day = 0; day < 4; day++) {
    ids.push(await sent(gateway, url))
    now += dayMs
  }
  await settled()
  // Another process begins.
  now = Date.UTC(2030, 0, 4, 0, 0, 1)
  const next = createGateway({
    models: { m: demo() },
    clock: () => now,
    keys: { 'sk-test': { account: 'acme' } },
    content: { encryptionKey, store, keyStore, keepDays: 2 },
  })
  await (await askChat(await hosted(next))).text()
  await expect
    .poll(async () => (await keyStore.page(undefined, 10)).map(({ day }) => day).toSorted())
    .toEqual(['2030-01-02', '2030-01-03', '2030-01-04'])
  await expect
    .poll(async () => (await store.list({ account: 'acme' })).items.some(({ day }) => day < '2030-01-02'))
    .toBe(false)
  expect(await gateway.admin.content.get(ids[0] as string)).toBeUndefined()
  expect(await gateway.admin.content.get(ids[1] as string)).toBeDefined()
})

test('what is kept for its own day alone is looked for once an hour, not again and again', async () => {
  let looks = 0
  const keyStore = { ...memoryContentKeyStore(), removeBefore: () => (looks++, 0) }
  const { url, gateway, settled } = await worldWith({ content: { keepDays: 0, keyStore } })
  await sent(gateway, url)
  await settled()
  await delay(200)
  expect(looks).toBe(1)
})
