/** Accounts' keys in the gateway's store: who stores them, which calls they pay, and that nobody else gets any use of them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createGateway, memoryVendorKeyStore, type GatewayOptions } from 'modelhatch'
import { anthropic, demo, openai } from 'modelhatch/providers'
import { sqlite } from 'modelhatch/sqlite'
import { askChat, hostedWith, vendorFor } from '../../hosted.ts'
import { chatAnswer } from '../../providers/answers.ts'

const secrets = ['a secret of at least 32 characters', 'an older secret of 32 characters']
const [keyOfAda, keyOfBob] = ['sk-of-ada-0123456789', 'sk-of-bob-9876543210']

const keys: GatewayOptions['keys'] = {
  'sk-ada': { account: 'ada' },
  'sk-bob': { account: 'bob' },
  'sk-eve': { account: 'eve' },
}
const as = (account: string) => ({
  headers: { authorization: `Bearer sk-${account}`, 'content-type': 'application/json' },
})

/** A vendor that answers keys except those that `refused` has. */
async function vendorWithout(refused: readonly string[] = []) {
  const used: string[] = []
  const { baseURL } = await vendorFor(({ headers }, response) => {
    const key = String(headers.authorization).replace('Bearer ', '')
    used.push(key)
    response.writeHead(refused.includes(key) ? 401 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(refused.includes(key) ? { error: { message: 'no' } } : chatAnswer))
  })
  return { used, models: { m: openai({ baseURL, apiKey: 'host' }) } }
}

function fileFor(): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'gateway.db')
}

test('an account has its calls made with its key, until it is deleted', async () => {
  const { used, models } = await vendorWithout()
  const { url, gateway } = await hostedWith({ keys, models, ownKeys: { secrets } })
  const { vendorKeys } = gateway.admin
  expect(vendorKeys.providers()).toEqual(['openai'])
  const calls = async () => {
    for (const account of ['ada', 'bob', 'eve']) expect((await askChat(url, {}, as(account))).status).toBe(200)
    return used.splice(0)
  }
  expect(await calls()).toEqual(['host', 'host', 'host'])
  await vendorKeys.put({ account: 'ada', provider: 'openai', apiKey: keyOfAda })
  await vendorKeys.put({ account: 'bob', provider: 'openai', apiKey: 'sk-soon-replaced' })
  await vendorKeys.put({ account: 'bob', provider: 'openai', apiKey: keyOfBob })
  expect(await calls()).toEqual([keyOfAda, keyOfBob, 'host'])
  expect(await vendorKeys.delete('ada', 'openai')).toMatchObject({ hint: '6789' })
  expect(await calls()).toEqual(['host', keyOfBob, 'host'])
  await expect(vendorKeys.delete('ada', 'openai')).rejects.toMatchObject({ status: 404 })
})

test('another process uses a new key, and no longer a deleted one, within a second', async () => {
  const { used, models } = await vendorWithout()
  const file = fileFor()
  const open = () => hostedWith({ keys, models, storage: sqlite(file), ownKeys: { secrets } })
  const [first, second] = [await open(), await open()]
  const keyAfter = async () => {
    const changedAt = performance.now()
    let key: string | undefined
    // Each call takes some milliseconds.
    do {
      expect((await askChat(second.url, {}, as('ada'))).status).toBe(200)
      key = used.at(-1)
    } while (performance.now() - changedAt < 1_000)
    return key
  }
  expect((await askChat(second.url, {}, as('ada'))).status).toBe(200)
  await first.gateway.admin.vendorKeys.put({ account: 'ada', provider: 'openai', apiKey: keyOfAda })
  expect(await keyAfter()).toBe(keyOfAda)
  await first.gateway.admin.vendorKeys.delete('ada', 'openai')
  expect(await keyAfter()).toBe('host')
})

describe('whose key serves', () => {
  const withKeyOfAda = async (ownKeys: Partial<NonNullable<GatewayOptions['ownKeys']>>, refused: string[] = []) => {
    const { used, models } = await vendorWithout(refused)
    const hosted = await hostedWith({ keys, models, ownKeys: { secrets, ...ownKeys } })
    await hosted.gateway.admin.vendorKeys.put({ account: 'ada', provider: 'openai', apiKey: keyOfAda })
    const status = async (account: string) => (await askChat(hosted.url, {}, as(account))).status
    return { ...hosted, used, status }
  }

  test("prefer: its own if it has one; if that fails, the host's only where the options say so", async () => {
    const strict = await withKeyOfAda({}, [keyOfAda])
    expect([await strict.status('ada'), await strict.status('eve')]).toEqual([503, 200])
    expect(strict.used.filter((key) => key === 'host')).toHaveLength(1)
    const lenient = await withKeyOfAda({ fallback: true }, [keyOfAda])
    expect(await lenient.status('ada')).toBe(200)
    expect([lenient.used[0], lenient.used.at(-1)]).toEqual([keyOfAda, 'host'])
  })

  test("only: nobody without a key of its own, and never the host's", async () => {
    const { status, used, url } = await withKeyOfAda({ mode: 'only', fallback: true })
    expect([await status('ada'), await status('eve')]).toEqual([200, 403])
    const { error } = (await (await askChat(url, {}, as('eve'))).json()) as { error: { message: string } }
    expect(error.message).toBe(
      'The model "m" is served to you with a vendor key of your own only, and you have none for openai.',
    )
    expect(used).toEqual([keyOfAda])
    const refused = await withKeyOfAda({ mode: 'only', fallback: true }, [keyOfAda])
    expect(await refused.status('ada')).toBe(503)
    expect(new Set(refused.used)).toEqual(new Set([keyOfAda]))
  })

  test("host: the host's, whatever is stored", async () => {
    const { status, used } = await withKeyOfAda({ mode: 'host' })
    expect([await status('ada'), await status('eve')]).toEqual([200, 200])
    expect(used).toEqual(['host', 'host'])
  })

  test('a function chooses for each caller; one that fails or says something else leaves all keys unused', async () => {
    const { status, used } = await withKeyOfAda({
      mode: ({ account }) => {
        if (account === 'bob') return 'odd' as never
        return account === 'ada' ? Promise.resolve('host') : 'only'
      },
    })
    expect([await status('ada'), await status('bob'), await status('eve')]).toEqual([200, 503, 403])
    expect(used).toEqual(['host'])
  })

  test('the function credentials comes before what is stored', async () => {
    const given = ({ account }: { account: string }) => (account === 'bob' ? { apiKey: keyOfBob } : undefined)
    const { status, used } = await withKeyOfAda({ credentials: given })
    for (const account of ['ada', 'bob', 'eve']) expect(await status(account)).toBe(200)
    expect(used).toEqual([keyOfAda, keyOfBob, 'host'])
  })

  test("videos, which are made with the host's key, are refused where only own ones serve", async () => {
    const models = { film: demo() }
    const { url } = await hostedWith({ keys, models, ownKeys: { secrets, mode: 'only' } })
    const body = JSON.stringify({ model: 'film', prompt: 'A hatch opens', duration: 5 })
    const response = await fetch(`${url}/v1/videos/generations`, { method: 'POST', ...as('ada'), body })
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('which videos cannot use')])
  })
})

test('a sealed key that was moved, changed or sealed with a lost secret serves nobody', async () => {
  const { used, models } = await vendorWithout()
  const store = memoryVendorKeyStore()
  const options = { keys, models, storage: { vendorKeys: store } }
  const { url, gateway } = await hostedWith({ ...options, ownKeys: { secrets, fallback: true } })
  await gateway.admin.vendorKeys.put({ account: 'ada', provider: 'openai', apiKey: keyOfAda })
  const [record] = await store.list('ada')
  if (record === undefined) throw new Error('no record')
  await store.put({ ...record, account: 'eve' })
  await store.put({ ...record, account: 'bob', sealed: `${record.sealed.slice(0, -4)}AAAA` })
  // The store changed without the process: it learns of it within a second.
  await expect.poll(async () => (await askChat(url, {}, as('eve'))).status, { timeout: 5_000 }).toBe(503)
  used.length = 0
  for (const account of ['eve', 'bob']) {
    const response = await askChat(url, {}, as(account))
    expect(response.status).toBe(503)
    expect(await response.text()).not.toMatch(/sealed|sk-of|secret/)
  }
  const other = await hostedWith({ ...options, ownKeys: { secrets: ['yet another secret of 32 characters'] } })
  expect((await askChat(other.url, {}, as('ada'))).status).toBe(503)
  expect(used).toEqual([])
})

test('after a rotation, the first secret alone opens every key that was readable', async () => {
  const { used, models } = await vendorWithout()
  const store = memoryVendorKeyStore()
  const [current = '', older = ''] = secrets
  const gatewayWith = (...own: string[]) =>
    hostedWith({ keys, models, storage: { vendorKeys: store }, ownKeys: { secrets: own } })
  const { gateway: old } = await gatewayWith(older)
  for (const account of ['ada', 'eve', ...Array.from({ length: 250 }, (_, index) => `account-${index}`)])
    await old.admin.vendorKeys.put({ account, provider: 'openai', apiKey: keyOfAda })
  const { gateway: lost } = await gatewayWith('a third secret that nobody else has')
  await lost.admin.vendorKeys.put({ account: 'bob', provider: 'openai', apiKey: keyOfBob })
  const { gateway: both, url } = await gatewayWith(current, older)
  // A write seals with the first.
  await both.admin.vendorKeys.put({ account: 'eve', provider: 'openai', apiKey: keyOfBob })
  const before = await both.admin.vendorKeys.list('ada')
  expect(await both.admin.vendorKeys.rotate()).toEqual({ resealed: 251, unreadable: 1 })
  expect(await both.admin.vendorKeys.rotate()).toEqual({ resealed: 0, unreadable: 1 })
  expect(await both.admin.vendorKeys.list('ada')).toEqual(before)
  const { url: later } = await gatewayWith(current)
  for (const each of [url, later]) {
    expect((await askChat(each, {}, as('ada'))).status).toBe(200)
    expect((await askChat(each, {}, as('eve'))).status).toBe(200)
  }
  expect(used).toEqual([keyOfAda, keyOfBob, keyOfAda, keyOfBob])
})

test('a rotation brings back no key that is deleted meanwhile, and replaces none that is stored meanwhile', async () => {
  const { models } = await vendorWithout()
  const store = memoryVendorKeyStore()
  const [current = '', older = ''] = secrets
  const gatewayWith = (...own: string[]) =>
    createGateway({ models, storage: { vendorKeys: store }, ownKeys: { secrets: own } })
  const { vendorKeys: old } = gatewayWith(older).admin
  for (const account of ['ada', 'bob']) await old.put({ account, provider: 'openai', apiKey: keyOfAda })
  const kept = { ...store }
  store.page = async (after, limit) => {
    const found = await kept.page(after, limit)
    await old.delete('ada', 'openai').catch(() => undefined)
    await old.put({ account: 'bob', provider: 'openai', apiKey: keyOfBob })
    return found
  }
  expect(await gatewayWith(current, older).admin.vendorKeys.rotate()).toMatchObject({ resealed: 0 })
  expect(await store.list('ada')).toEqual([])
  expect(await old.list('bob')).toMatchObject([{ hint: '3210' }])
})

test('nothing shows a key again: no answer, log, export, error, and no byte of the database', async () => {
  const { models } = await vendorWithout()
  const file = fileFor()
  const { gateway } = await hostedWith({ keys, models, storage: sqlite(file), ownKeys: { secrets } })
  const admin = gateway.admin.by({ name: 'operator' })
  const shown: unknown[] = []
  shown.push(await admin.vendorKeys.put({ account: 'ada', provider: 'openai', apiKey: keyOfAda }))
  shown.push(await admin.vendorKeys.list('ada'), await admin.vendorKeys.rotate())
  for await (const item of admin.export('ada')) shown.push(item)
  const wrong = [`${keyOfAda} with spaces`, `${keyOfAda}\n`, keyOfAda.repeat(300), 'short']
  for (const apiKey of wrong)
    shown.push(await admin.vendorKeys.put({ account: 'ada', provider: 'openai', apiKey }).catch(String))
  shown.push(await admin.vendorKeys.put({ account: 'ada', provider: 'other', apiKey: keyOfAda }).catch(String))
  shown.push(await admin.vendorKeys.delete('ada', 'openai'))
  const log = await admin.auditLog.list({ account: 'ada' })
  shown.push(log)
  expect(log.items.map(({ action, actor, target }) => [action, actor, target])).toEqual([
    ['vendorKeys.delete', 'operator', 'openai'],
    ['vendorKeys.put', 'operator', 'openai'],
  ])
  expect(shown[0]).toEqual({
    account: 'ada',
    provider: 'openai',
    hint: '6789',
    createdAt: expect.any(Number) as number,
    by: 'operator',
  })
  expect(JSON.stringify(shown)).not.toContain(keyOfAda.slice(0, 12))
  await admin.vendorKeys.put({ account: 'ada', provider: 'openai', apiKey: keyOfAda })
  const folder = join(file, '..')
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name)).toString('latin1')
    expect(bytes.includes(keyOfAda.slice(0, 12)), name).toBe(false)
    for (const secret of secrets) expect(bytes.includes(secret), name).toBe(false)
  }
})

test('erasing an account deletes its keys, and no others, also where they are no longer used', async () => {
  const { used, models } = await vendorWithout()
  const store = memoryVendorKeyStore()
  const options = { keys, models, storage: { vendorKeys: store } }
  const { url, gateway } = await hostedWith({ ...options, ownKeys: { secrets } })
  const put = async () => {
    for (const account of ['ada', 'bob'])
      await gateway.admin.vendorKeys.put({ account, provider: 'openai', apiKey: keyOfAda })
  }
  await put()
  expect((await askChat(url, {}, as('ada'))).status).toBe(200)
  await gateway.admin.erase('ada')
  expect(await gateway.admin.vendorKeys.list('ada')).toEqual([])
  expect(await gateway.admin.vendorKeys.list('bob')).toHaveLength(1)
  expect((await askChat(url, {}, as('ada'))).status).toBe(200)
  expect(used).toEqual([keyOfAda, 'host'])
  await put()
  await createGateway(options).admin.erase('ada')
  expect(await store.list('ada')).toEqual([])
})

describe('what is refused', () => {
  test('a gateway without secrets keeps no keys', async () => {
    const { admin } = createGateway({ models: { m: demo() } })
    expect(admin.offers().vendorKeys).toBe(false)
    const { vendorKeys } = admin
    for (const act of [
      () => vendorKeys.put({ account: 'a', provider: 'openai', apiKey: keyOfAda }),
      () => vendorKeys.list('a'),
      () => vendorKeys.delete('a', 'openai'),
      () => vendorKeys.rotate(),
      async () => vendorKeys.providers(),
    ])
      await expect(act()).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('ownKeys.secrets') as string,
      })
  })

  test('a provider that takes none, and too many keys of an account', async () => {
    const { models } = await vendorWithout()
    const { vendorKeys } = createGateway({ models: { ...models, d: demo() }, ownKeys: { secrets } }).admin
    for (const provider of ['demo', 'anthropic', 'openai/own-key', 'OpenAI'])
      await expect(vendorKeys.put({ account: 'a', provider, apiKey: keyOfAda })).rejects.toMatchObject({
        status: 400,
        message: '"provider" must be one of openai.',
      })
    const registry = { find: () => undefined, list: () => [] }
    const { vendorKeys: open } = createGateway({ models: registry, ownKeys: { secrets } }).admin
    for (let index = 0; index < 100; index++)
      await open.put({ account: 'a', provider: `vendor-${index}`, apiKey: keyOfAda })
    await expect(open.put({ account: 'a', provider: 'one-more', apiKey: keyOfAda })).rejects.toMatchObject({
      status: 400,
    })
    await open.put({ account: 'a', provider: 'vendor-7', apiKey: keyOfBob })
  })

  test('secrets that are short or missing, and options without any source of keys', () => {
    const secret = 's3cret'
    const made = (ownKeys: object) => () => createGateway({ models: { m: demo() }, ownKeys })
    for (const ownKeys of [
      { secrets: [secret] },
      { secrets: [] },
      { secrets: [undefined] },
      { secrets: secret },
      {},
      { mode: 'own', secrets },
    ]) {
      expect(made(ownKeys)).toThrow(/^createGateway: ownKeys/)
      expect(made(ownKeys)).not.toThrow(secret)
    }
  })

  test('two vendors with the same name: the key for one would be sent to the other', () => {
    const two = (name?: string) => ({
      a: openai({ apiKey: 'host' }),
      b: openai({ baseURL: 'https://other.example/v1', apiKey: 'host', ...(name !== undefined && { name }) }),
      c: anthropic({ apiKey: 'host' }),
    })
    expect(() => createGateway({ models: two(), ownKeys: { secrets } })).toThrow(
      /https:\/\/api\.openai\.com and https:\/\/other\.example are both called "openai"/,
    )
    const { vendorKeys } = createGateway({ models: two('other'), ownKeys: { secrets } }).admin
    expect(vendorKeys.providers()).toEqual(['anthropic', 'openai', 'other'])
  })
})
