/** Rows that cannot be read: no list fails for one, nothing behind it waits, and it is named. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alertOf } from '../../../src/admission/alerts/alert.ts'
import { ResponseArchive } from '../../../src/endpoints/responses/archive.ts'
import { createGateway, type Failure, type Gateway, type KeyRecord, type StorageBundle } from '../../../src/index.ts'
import { ContentCipher, packed } from '../../../src/observe/content/cipher.ts'
import { ContentReader } from '../../../src/observe/content/read.ts'
import { demo } from '../../../src/providers/index.ts'
import { Guard } from '../../../src/records/guard.ts'
import type { TaskRecord } from '../../../src/tasks/contract.ts'
import { Tasks, type Working } from '../../../src/tasks/stored.ts'
import type { SweeperOptions } from '../../../src/tasks/sweeper.ts'
import { everyBundle } from '../../every-bundle.ts'
import { usageRecord } from '../../observe/usage/record.ts'
import { broken, rawOf, type Raw } from './raw.ts'
import { storeTimeouts } from '../../patience.ts'

type Storage = StorageBundle & Required<Pick<StorageBundle, 'keys' | 'tasks' | 'batches' | 'responses' | 'ledger'>>

const names = ['first', 'damaged', 'last']

class Worked extends Tasks<{ readonly n: number }> {
  sweep = () => this.sweeper.sweep()
  find = (id: string) => this.stored('acme', id)
  removeAll = (remove: Working<{ readonly n: number }>['step']) => this.removeEach('acme', remove)
}

describe.each(everyBundle())('%s', (kind, available, open, { name }) => {
  describe.skipIf(!available)('a row that cannot be read', () => {
    const failures: Failure[] = []
    let storage: Storage
    let gateway: Gateway
    let run: Raw['run']
    let damage: Raw['damage']
    let close: Raw['close']

    beforeAll(async () => {
      storage = await open()
      gateway = createGateway({
        models: {},
        registry: { providers: { demo: demo() } },
        billing: { currency: 'EUR' },
        storage,
        timeouts: storeTimeouts,
        hooks: { failure: (failure) => void failures.push(failure) },
      })
      await gateway.ready()
      ;({ run, damage, close } = await rawOf(kind, name))
    })
    afterAll(async () => {
      await gateway.close({ graceMs: 0 })
      await close()
    })

    /** The items of pages of one. */
    async function paged<T>(list: (page: { limit: number; after?: string }) => unknown): Promise<T[]> {
      const found: T[] = []
      for (let after: string | undefined; ;) {
        const page = (await list({ limit: 1, ...(after !== undefined && { after }) })) as { items: T[]; next?: string }
        found.push(...page.items)
        if ((after = page.next) === undefined) return found
      }
    }
    const told = (id: string) => failures.filter((each) => each.id === id).map(({ error }) => String(error))

    test('of the audit log is listed with its number, and found by a verification', async () => {
      for (const id of names) await gateway.admin.accounts.open({ id })
      await damage({ table: 'audit_log', column: 'content', where: 'number = 2' }, ['audit log:', '1'])
      const entries = await paged((page) => gateway.admin.auditLog.list(page))
      expect(entries).toMatchObject([{ number: 3 }, { number: 2, unreadable: true }, { number: 1 }])
      await gateway.admin.accounts.open({ id: 'another' })
      expect(await gateway.admin.auditLog.verify()).toMatchObject({ isIntact: false, entries: 4 })
    })

    test('of keys is listed as one that lets nobody in, can be revoked, and is named to whoever uses it', async () => {
      const { keys } = storage
      for (const [at, id] of names.entries()) await keys.insert?.(keyNamed(id, at))
      const place = { table: 'keys', column: 'record', isJson: true, where: "id = 'damaged'" }
      await damage(place, [`key:${hashOf('damaged')}`])
      const shown = { id: 'damaged', name: '(cannot be read)', revokedAt: 1 }
      const all = [{ id: 'last' }, shown, { id: 'first' }]
      expect(await gateway.admin.keys.list('acme')).toMatchObject(all)
      const searched = await paged<KeyRecord>((page) => gateway.admin.keys.search(page))
      expect(searched.map(({ id }) => id).sort()).toEqual(names.toSorted())
      const tagged = await paged<KeyRecord>((page) =>
        gateway.admin.keys.search({ ...page, tag: 't', text: 'A', state: 'active' }),
      )
      expect(tagged.map(({ id }) => id)).toEqual(['last', 'first'])
      await expect(async () => keys.find(hashOf('damaged'))).rejects.toThrow(/^The stored key .*d.* cannot be read\.$/)
      expect(await gateway.admin.keys.revoke('acme', 'damaged')).toMatchObject(shown)
      expect(await keys.find(hashOf('damaged'))).toMatchObject(shown)
    })

    test('of the registry is listed with its fault, and can be removed', async () => {
      const { groups } = gateway.admin.registry
      for (const id of names) await groups.create({ id, models: '*' })
      const where = "kind = 'group' AND id = 'damaged'"
      await damage({ table: 'registry', column: 'value', where }, ['registry:', 'group damaged'])
      await groups.create({ id: 'later', models: '*' })
      const found = (await groups.list()).filter(({ source }) => source === 'registry')
      expect(found.map(({ id }) => id).toSorted()).toEqual([...names, 'later'].toSorted())
      expect(found.filter(({ fault }) => fault !== undefined)).toMatchObject([{ id: 'damaged' }])
      await groups.remove('damaged')
      expect(await groups.find('damaged')).toBeUndefined()
    })

    test('of videos is left out of lists and reported', async () => {
      for (const [at, id] of names.entries()) await storage.tasks.insert(taskNamed(`video_${id}`, { createdAt: at }))
      await damage({ table: 'tasks', column: 'data', where: "id = 'video_damaged'" }, ['task:*video_damaged', 'data'])
      for (const scope of [{ account: 'acme' }, { all: true } as const]) {
        const found = await paged((page) => gateway.admin.videos.list({ ...scope, ...page }))
        expect(found).toMatchObject([{ id: 'video_last' }, { id: 'video_first' }])
      }
      expect(told('video_damaged')[0]).toContain('task video_damaged of account acme cannot be read')
      await expect(gateway.admin.videos.find('acme', 'video_damaged')).rejects.toThrow(/video_damaged.* cannot be read/)
    })

    test('of tasks that are due keeps none behind it from its turn, and ends when it expires or is erased', async () => {
      const [done, reported]: [string[], string[]] = [[], []]
      let now = 10
      const keeping = { store: storage.batches, now: async () => now }
      const step = async ({ id }: Pick<TaskRecord, 'id'>) => done.push(id)
      const working = { noun: 'tasks', leaseMs: 10, step, worker: ({ n }: { n: number }) => String(n) }
      const failed = (id: string) => void reported.push(id)
      const sweeping: SweeperOptions = { everyMs: 1, concurrency: 1, perProvider: 1, random: () => 0, failed }
      const worked = new Worked(keeping, working, sweeping)
      for (const [at, id] of names.entries()) {
        const times = { createdAt: at, dueAt: at, expiresAt: id === 'damaged' ? 100 : 1e6 }
        await keeping.store.insert({ ...taskNamed(id, times), data: { n: 1 } })
      }
      const place = { table: 'batches', column: 'data', where: "id = 'damaged'" }
      await damage(place, ['task:*:damaged', 'data'])
      await worked.sweep()
      expect([done, reported]).toEqual([['first', 'last'], ['damaged']])
      for (const order of ['asc', 'desc'] as const) {
        const [first, ...rest] = await worked.list('acme', { limit: 1, order })
        const next = await worked.list('acme', { limit: 1, order, after: first?.id ?? '' })
        expect([first, ...rest, ...next].map((each) => each?.id)).toEqual(
          order === 'asc' ? ['first', 'last'] : ['last', 'first'],
        )
      }
      await expect(worked.find('damaged')).rejects.toThrow('task damaged of account acme cannot be read')
      now = 200
      await worked.sweep()
      expect(await worked.find('damaged')).toBeUndefined()
      await keeping.store.insert({ ...taskNamed('erased', { createdAt: 3 }), data: { n: 1 } })
      await damage({ ...place, where: "id = 'erased'" }, ['task:*:erased', 'data'])
      await worked.removeAll(async (task) => {
        const { version, data } = task
        await keeping.store.replace({ ...task, data: { ...data }, version: version + 1, expiresAt: now, dueAt: null })
      })
      expect(await worked.find('erased')).toBeUndefined()
      expect(reported).toContain('erased')
    })

    test('of alerts is left out of lists and reported, and those behind it are delivered', async () => {
      const { ledger } = storage
      await ledger.credit({ account: 'first', amount: 10n, reference: 'r' })
      for (const [at, id] of names.entries()) {
        await ledger.hold({ id: `hold ${id}`, account: 'first', amount: 1n, leaseMs: 60_000 })
        const balanceThresholds = [{ id, at: BigInt(10 - at), notice: '{"type":"balance.low","level":"5"}' }]
        await ledger.settle({ id: `hold ${id}`, account: 'first', amount: 1n, balanceThresholds })
      }
      await damage({ table: 'notices', column: 'notice', where: "id = 'damaged'" }, ['notice:damaged'])
      const found = await paged<{ id: string }>((page) => gateway.admin.alerts.list({ all: true, ...page }))
      expect(found.map(({ id }) => id).sort()).toEqual(['first', 'last'])
      expect(told('damaged')).toContainEqual(expect.stringContaining('alert damaged cannot be read'))
      const due = (await ledger.caps?.claimNotices(10, 60_000)) ?? []
      expect(due.map(({ id }) => id).sort()).toEqual(names.toSorted())
      for (const each of due) if (each.id !== 'damaged') expect(alertOf(each)).toMatchObject({ level: '0.000005' })
    })

    test('of responses is named to whoever asks for it, and is deleted with the others', async () => {
      const { responses } = storage
      const at = (id: string) => new ResponseArchive(responses, 'acme').get(id)
      for (const id of names) {
        const body = JSON.stringify({ input: [], response: { id, output: [] } })
        await responses.put({ account: 'acme', id, items: [`item_${id}`], body })
      }
      const row = { table: 'responses', where: "id = 'damaged'" }
      await damage({ ...row, column: 'items' }, ['response:*damaged', 'items'])
      expect((await at('damaged')).response).toMatchObject({ id: 'damaged' })
      await damage({ ...row, column: 'body' }, ['response:*damaged', 'body'])
      await expect(at('damaged')).rejects.toThrow('The stored response damaged cannot be read.')
      expect((await at('last')).response).toMatchObject({ id: 'last' })
      while (await responses.deleteAll?.('acme'));
      for (const id of names) expect(await responses.get('acme', id)).toBeUndefined()
    })

    test('of idempotent requests counts as an answer that was not kept', async () => {
      const start = { account: 'acme', route: 'r', key: 'damaged', attempt: 'a', digest: 'd' }
      await storage.idempotency?.begin({ ...start, leaseMs: 60_000 })
      const answer = { status: 200, headers: {}, body: Buffer.from('x') }
      await storage.idempotency?.finish({ ...start, keepMs: 60_000, answer })
      await damage({ table: 'idempotency', column: 'headers', where: "attempt = 'a'" }, [
        'attempt:*damaged*',
        'headers',
      ])
      const again = await storage.idempotency?.begin({ ...start, attempt: 'b', leaseMs: 60_000 })
      expect(again).toEqual({ outcome: 'ended', digest: 'd' })
    })

    test('of vendor keys is listed, and no secret opens it', async () => {
      const { vendorKeys } = storage
      for (const provider of names)
        await vendorKeys?.put({ account: 'acme', provider, sealed: 's', hint: 'h', createdAt: 1 })
      const where = "provider = 'damaged'"
      await damage({ table: 'vendor_keys', column: 'sealed', where }, ['vendor keys:', 'acme\0damaged'])
      const found = await Promise.all([vendorKeys?.list('acme'), vendorKeys?.page(undefined, 10)])
      for (const all of found) expect(all?.map(({ provider }) => provider).sort()).toEqual(names.toSorted())
    })

    test.skipIf(kind === 'Redis' || kind === 'Postgres')('of limits leaves those of the cap', async () => {
      const { caps } = storage.ledger
      await caps?.override({ name: 'damaged', limits: { money: 5n } })
      await run(`UPDATE @cap_overrides SET limits = '${broken}'`)
      expect(await caps?.overrides('damaged')).toEqual([{ name: 'damaged', limits: {} }])
      const claim = { name: 'damaged', window: 'always', periods: { boundaries: [0, 8e15] }, limits: { money: 9n } }
      expect(await caps?.read([claim])).toMatchObject([{ limits: { money: 9n } }])
    })

    test.skipIf(kind === 'Redis')('of usage is listed with what can be read, and is part of all sums', async () => {
      const usage = storage.usage as NonNullable<StorageBundle['usage']>
      const lines = [{ item: 'i', quantity: 1, per: 1, price: '1' }]
      const attemptLog = [{ provider: 'p', providerModel: 'm', outcome: 'succeeded', startMs: 0, ms: 1 } as const]
      const common = { lines, attemptLog, provider: 'p', providerModel: 'm', cost: 7n }
      await usage.append(
        names.map((id, at) => usageRecord({ id, ...common, startedAt: at, account: `of ${id}`, tags: ['t'] })),
      )
      await usage.appendRefused?.([
        usageRecord({ id: 'refused', startedAt: 9, outcome: 'refused', code: 'not_found', tags: ['t'] }),
      ])
      const json = kind === 'Postgres' ? '"broken"' : broken
      await run(`UPDATE @usage_labels SET tags = '${json}' WHERE account = 'of damaged'`)
      await run(`UPDATE @calls SET "lines" = '${json}', attempt_log = '${broken}' WHERE id = 'damaged'`)
      await run(`UPDATE @refused SET record = '${broken}' WHERE id = 'refused'`)
      const found = await paged((page) => usage.list(page))
      expect(found).toMatchObject(['refused', ...names.toReversed()].map((id) => ({ id })))
      expect(found[0]).toMatchObject({ outcome: 'refused', code: 'not_found', endpoint: '(cannot be read)', cost: 0n })
      expect(found[2]).toMatchObject({ account: 'of damaged', cost: 7n, promptTokens: 1 })
      expect(await usage.find?.('damaged')).not.toHaveProperty('tags')
      const tagged = await paged<{ id: string }>((page) => usage.list({ ...page, tag: 't' }))
      expect(tagged.map(({ id }) => id)).toEqual(['refused', 'last', 'first'])
      expect(await usage.summarise({ by: ['tag'] })).toMatchObject([
        { tag: '', cost: 7n },
        { tag: 't', cost: 14n },
      ])
      expect(await usage.summarise({ by: ['account'], tag: 't' })).toHaveLength(2)
      expect(await usage.sumLines?.({})).toMatchObject([
        { account: 'of first', item: 'i', quantity: 1 },
        { account: 'of last', item: 'i', quantity: 1 },
      ])
    })

    test.skipIf(kind === 'Redis')(
      'of content is left out of lists and reported, also if no secret opens its key',
      async () => {
        const { content: store, contentKeys: keyStore } = storage as Required<StorageBundle>
        const reported: string[] = []
        const guard = new Guard({ name: 'the store', timeoutMs: 60_000, now: () => 0 })
        const failed = (id: string) => void reported.push(id)
        const [cipher, other] = ['first', 'other'].map((each) => new ContentCipher([each.repeat(8)])) as [
          ContentCipher,
          ContentCipher,
        ]
        for (const [at, id] of names.entries()) {
          const owner = { account: 'acme', user: id, day: '1970-01-01' }
          const sealing = id === 'damaged' ? other : cipher
          const key = sealing.keyFor(owner)
          await keyStore.claim([key])
          const bytes = await packed({ id, account: 'acme', at, request: {}, media: [] } as never)
          await store.append([sealing.record({ id, at, owner, bytes }, key)])
        }
        const reader = new ContentReader({ store, keyStore, cipher, guard, keyGuard: guard, failed })
        const read = () => paged<{ id: string }>((page) => reader.list('acme', undefined, page))
        expect((await read()).map(({ id }) => id)).toEqual(['first', 'last'])
        await expect(reader.get('damaged')).rejects.toThrow(/content of damaged cannot be read.*older secret/)
        await run(`UPDATE @content_keys SET sealed = '${broken}' WHERE "user" = 'damaged'`)
        expect((await read()).map(({ id }) => id)).toEqual(['first', 'last'])
        expect(reported).toEqual(['damaged', 'damaged'])
        expect(await reader.rotate()).toMatchObject({ unreadable: 1 })
      },
    )
  })
})

function hashOf(id: string): string {
  return Buffer.from(id).toString('hex').padEnd(64, '0')
}

function keyNamed(id: string, createdAt: number): KeyRecord {
  return { id, hash: hashOf(id), prefix: 'sk-a', account: 'acme', group: 'g', createdAt, version: 1, tags: ['t'] }
}

function taskNamed(id: string, changes: Partial<TaskRecord>): TaskRecord {
  const data = { state: 'completed', request: { model: 'm', prompt: 'p', duration: 1 } }
  const times = { createdAt: 0, expiresAt: 8e15, dueAt: null, leasedUntil: 0 }
  return { account: 'acme', id, version: 1, ...times, data, ...changes }
}
