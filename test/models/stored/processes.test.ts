/** Models, groups and prices that one process changes, and another one serves. */
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import type { GatewayOptions, RegistryStore } from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import { whole } from '../../admission/scene.ts'
import { Proxy } from '../../chaos/proxy.ts'
import { calmly } from '../../cpu-time.ts'
import { everyBundle } from '../../every-bundle.ts'
import { askChat, hostedWith, vendorFor, type Hosted } from '../../hosted.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'

const noticeMs = 1_000

/** A gateway with no model in its options, which keeps the registry alone in a storage. */
async function instance(registry: RegistryStore, options: Partial<GatewayOptions> = {}): Promise<Hosted> {
  const vendor = await vendorFor(whole)
  const providers = { ours: openai({ baseURL: vendor.baseURL }) }
  return hostedWith({ models: {}, registry: { providers }, storage: { registry }, ...options })
}

async function status({ url }: Hosted, model = 'new'): Promise<number> {
  return (await askChat(url, { model })).status
}

/** Another process answers with a status within a second. */
async function untilStatus(hosted: Hosted, wanted: number, model?: string): Promise<void> {
  const begun = performance.now()
  while ((await status(hosted, model)) !== wanted) {
    const ms = calmly(performance.now() - begun, noticeMs)
    expect(ms, `milliseconds until the status ${wanted}`).toBeLessThan(noticeMs)
  }
}

describe.each(everyBundle())('%s', (_, there, open) => {
  test.skipIf(!there)(
    'another process serves a new model within a second, and refuses it once it is disabled',
    async () => {
      const [here, other] = [await instance((await open()).registry), await instance((await open()).registry)]
      const model = `new-${ownName()}`
      expect(await status(other, model)).toBe(404)
      const { models } = here.gateway.admin.registry
      await models.create({ id: model, deployments: [{ provider: 'ours', providerModel: 'gpt' }] })
      expect(await status(here, model)).toBe(200)
      await untilStatus(other, 200, model)
      await models.update(model, { deployments: [{ provider: 'ours', providerModel: 'gpt', disabled: true }] })
      await untilStatus(other, 404, model)
      expect(await status(here, model)).toBe(404)
      await models.update(model, { deployments: [{ provider: 'ours', providerModel: 'gpt' }], disabled: true })
      expect(await status(other, model)).toBe(404)
      await models.update(model, { disabled: null })
      await untilStatus(other, 200, model)
      await models.remove(model)
      await untilStatus(other, 404, model)
    },
  )

  test.skipIf(!there)('of concurrent changes of the same version one succeeds, and the other is a 409', async () => {
    const [here, other] = [await instance((await open()).registry), await instance((await open()).registry)]
    const id = `group-${ownName()}`
    const created = await here.gateway.admin.registry.groups.create({ id, models: '*' })
    expect(created).toMatchObject({ id, source: 'registry', version: 1, models: '*' })
    const changes = await Promise.allSettled(
      [here, other].map(({ gateway }, at) => gateway.admin.registry.groups.update(id, { weight: at + 1, version: 1 })),
    )
    expect(changes.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected'])
    const [{ reason }] = changes.filter((each) => each.status === 'rejected') as [PromiseRejectedResult]
    expect(reason).toMatchObject({ code: 'conflict', status: 409 })
    const won = changes.findIndex((each) => each.status === 'fulfilled') + 1
    expect(await other.gateway.admin.registry.groups.find(id)).toMatchObject({ weight: won, version: 2 })
    // Without a version, a change is made anew of what the other one has left.
    await Promise.all([
      here.gateway.admin.registry.groups.update(id, { note: 'a' }),
      other.gateway.admin.registry.groups.update(id, { weight: 7 }),
    ])
    expect(await here.gateway.admin.registry.groups.find(id)).toMatchObject({ note: 'a', weight: 7, version: 4 })
  })
})

describe.skipIf(!hasPostgres)('while the database is away', () => {
  async function throughProxy() {
    const [proxy, schema] = [new Proxy(5432), ownName()]
    const pool = new Pool({
      host: '127.0.0.1',
      port: await proxy.listen(),
      user: 'postgres',
      database: 'test',
      max: 4,
      connectionTimeoutMillis: 5_000,
    })
    pool.on('error', () => undefined)
    onTestFinished(async () => {
      await proxy.close()
      await pool.end()
      const direct = postgresPool(1)
      await direct.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await direct.end()
    })
    return { proxy, registry: postgres(pool, { schema }).registry }
  }

  test('the last state is served, administration is a 503, and changes are seen after it is back', async () => {
    const { proxy, registry } = await throughProxy()
    const here = await instance(registry)
    const { models } = here.gateway.admin.registry
    await models.create({ id: 'new', deployments: [{ provider: 'ours' }] })
    expect(await status(here)).toBe(200)
    proxy.mode = 'refuse'
    await expect(models.update('new', { disabled: true })).rejects.toMatchObject({ status: 503 })
    for (let calls = 0; calls < 20; calls++) expect(await status(here)).toBe(200)
    expect(await status(here, 'unknown')).toBe(404)
    proxy.mode = 'pass'
    await expect
      .poll(() =>
        models.update('new', { disabled: true }).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    expect(await status(here)).toBe(404)
  })

  test('a process that starts serves the models of its options, and a 503 for all others until it has read them', async () => {
    const { proxy, registry } = await throughProxy()
    const before = await instance(registry)
    await before.gateway.admin.registry.models.create({ id: 'new', deployments: [{ provider: 'ours' }] })
    proxy.mode = 'refuse'
    const vendor = await vendorFor(whole)
    const models = { own: openai({ baseURL: vendor.baseURL }) }
    const started = await instance(registry, { models })
    expect(await status(started, 'own')).toBe(200)
    expect(await status(started)).toBe(503)
    proxy.mode = 'pass'
    await expect.poll(() => status(started)).toBe(200)
    expect(await status(started, 'own')).toBe(200)
  })
})
