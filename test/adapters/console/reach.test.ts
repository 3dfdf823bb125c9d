/** An account that tries every URL of the console with every id of another one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'modelhatch/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStage, serveConsole, type Served, type Stage } from './stage.ts'

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
}

const admin = { cookie: 'who=admin' }
const acme = { cookie: 'who=acme' }
const write = { 'x-modelhatch-admin': '1', 'content-type': 'application/json' }

/** Values for parameters that routes require. */
const required: Readonly<Record<string, string>> = {
  by: 'model',
  from: String(Date.now() - 40 * 86_400_000),
  to: String(Date.now() + 86_400_000),
  period: 'day',
  month: new Date().toISOString().slice(0, 7),
}

const bodies: Readonly<Record<string, object>> = {
  keys: { group: 'standard' },
  'playground-key': { group: 'standard' },
  'top-ups': { amount: '9', reference: 'mine' },
  adjustments: { amount: '9', reference: 'mine' },
  erase: { confirm: 'globex' },
}

describe.each(['Express', 'Koa'] as const)('in %s', (host) => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'))
  let stage: Stage
  let served: Served
  let video = ''
  let paths: [path: string, operations: Readonly<Record<string, Operation>>][]
  beforeAll(async () => {
    stage = await openStage(sqlite(join(folder, 'gateway.db')), 40)
    served = await serveConsole(host, stage.gateway)
    const created = await fetch(new URL('/ai/v1/videos', served.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.keys.globex}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-video-landscape', prompt: 'Only for globex' }),
    })
    video = ((await created.json()) as { id: string }).id
    const document = (await (await fetch(`${served.url}api/openapi.json`, { headers: admin })).json()) as {
      paths: Record<string, Record<string, Operation>>
    }
    paths = Object.entries(document.paths)
  })
  afterAll(async () => {
    await served.close()
    await stage.gateway.close({ graceMs: 0 })
    rmSync(folder, { recursive: true, force: true })
  })

  /** A path with the ids of globex, and as query all parameters that the route requires or that name an owner. */
  const urlOf = (path: string, { parameters = [] }: Operation, account: string) => {
    const ids: Record<string, string> = {
      account,
      key: stage.keyIds.globex[0] ?? '',
      video,
      cap: 'monthly',
      id: stage.requests.globex[0] ?? '',
      request: stage.requests.globex[0] ?? '',
    }
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name)
    const query = new URLSearchParams()
    for (const { name, in: place } of parameters) {
      const value = name === 'account' || name === 'key' ? ids[name] : required[name]
      if (place === 'query' && value !== undefined) query.set(name, value)
    }
    return `${served.url}api${filled}?${query}`
  }

  test('finds no row of it, and the operator finds them with the same requests', async () => {
    const seen = { acme: 0, admin: 0 }
    const leaks: string[] = []
    for (const [path, operations] of paths) {
      for (const method of Object.keys(operations).filter((each) => each === 'get')) {
        const url = urlOf(path, operations[method] ?? {}, 'globex')
        const asAdmin = await (await fetch(url, { headers: admin, redirect: 'manual' })).text()
        if (/globex/i.test(asAdmin) || asAdmin.includes(video)) seen.admin++
        for (const target of [
          url,
          url.replace('account=globex', 'account=acme'),
          url.replace(/([?&])account=globex&?/, '$1'),
        ]) {
          const response = await fetch(target, { headers: acme, redirect: 'manual' })
          const text = await response.text()
          seen.acme++
          if (/globex/i.test(text) || text.includes(video))
            leaks.push(`${target} ${response.status} ${text.slice(0, 200)}`)
        }
      }
    }
    expect(leaks).toEqual([])
    expect(seen.admin).toBeGreaterThan(12)
    expect(seen.acme).toBeGreaterThan(60)
  })

  test('changes nothing of it', async () => {
    const state = async () =>
      JSON.stringify([
        await stage.gateway.admin.accounts.find('globex'),
        await stage.gateway.admin.accounts.entries('globex'),
        await stage.gateway.admin.keys.list('globex'),
        (await stage.gateway.admin.usage.list({ account: 'globex' })).items.length,
      ])
    // Until it is made, its charge changes what belongs to globex.
    const stateOf = async () => (await stage.gateway.admin.videos.find('globex', video)).state
    await expect.poll(stateOf, { timeout: 20_000 }).toBe('completed')
    const before = await state()
    let tried = 0
    for (const [path, operations] of paths) {
      for (const method of Object.keys(operations).filter((each) =>
        ['post', 'patch', 'put', 'delete'].includes(each),
      )) {
        const url = urlOf(path, operations[method] ?? {}, 'globex')
        const body = JSON.stringify(bodies[path.split('/').at(-1) ?? ''] ?? {})
        const response = await fetch(url, {
          method: method.toUpperCase(),
          headers: { ...acme, ...write },
          ...(method !== 'delete' && { body }),
        })
        tried++
        expect(response.status, `${method} ${url}`).toBe(404)
      }
    }
    expect(tried).toBeGreaterThan(8)
    expect(await state()).toBe(before)
  })

  test('cannot use the playground of the console with the header missing, or from another origin', async () => {
    const call = (headers: Record<string, string>) =>
      fetch(`${served.url}gateway/v1/models`, {
        headers: { ...acme, authorization: `Bearer ${stage.keys.acme}`, ...headers },
      })
    expect((await call({ 'x-modelhatch-admin': '1' })).status).toBe(200)
    expect((await call({})).status).toBe(403)
    expect((await call({ 'x-modelhatch-admin': '1', origin: 'https://evil.example' })).status).toBe(403)
    expect((await call({ 'x-modelhatch-admin': '1', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await call({ 'x-modelhatch-admin': '1', authorization: 'Bearer sk-wrong' })).status).toBe(401)
  })

  test('is not answered under a host name that is not its own', async () => {
    const site = await serveConsole(host, stage.gateway, { hosts: ['console.example.com'] })
    for (const path of ['', 'api/me', 'setup?baseURL=http://a&model=b']) {
      expect((await fetch(site.url + path, { headers: admin })).status).toBe(403)
    }
    await site.close()
  })

  test('the set-up of agents needs a URL and a model, and says so', async () => {
    const ask = async (query: string) => {
      const response = await fetch(`${served.url}setup?${query}`, { headers: acme })
      return [response.status, ((await response.json()) as { error?: { message: string } }).error?.message]
    }
    expect(await ask('baseURL=http://a.example/ai&model=gpt-mini')).toEqual([200, undefined])
    expect(await ask('baseURL=javascript:alert(1)&model=gpt-mini')).toEqual([400, expect.stringContaining('baseURL')])
    expect(await ask('baseURL=http://a.example')).toEqual([400, expect.stringContaining('models')])
    expect((await fetch(`${served.url}setup?baseURL=http://a&model=b`)).status).toBe(404)
  })
})
