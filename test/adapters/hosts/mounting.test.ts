/** Invalid arguments of `mount` throw immediately, not with each request. */
import Express from 'express'
import Express4 from 'express-v4'
import Koa from 'koa'
import { expect, test } from 'vitest'
import koaMount from 'koa-mount'
import { createGateway, type Mountable } from 'modelhatch'
import { mount as express } from 'modelhatch/express'
import { mount as fetch } from 'modelhatch/fetch'
import { mount as koa } from 'modelhatch/koa'
import { mount as node } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'
import { serve } from './serve.ts'

const gateway = createGateway({ keys: { 'sk-test': {} }, models: { demo: demo() } })
type Loose = (...given: unknown[]) => unknown

test.each<[string, Loose, string]>([
  ['Express', express as Loose, "app.use('/ai', mount(gateway))"],
  ['Koa', koa as Loose, "app.use(mount('/ai', gateway))"],
  ['node:http', node as Loose, 'createServer(mount(gateway))'],
  ['fetch', fetch as Loose, "mount(gateway, { prefix: '/ai' })"],
])('%s: anything but a gateway throws an error that shows how to mount', (_, mount, form) => {
  for (const wrong of [undefined, null, {}, demo(), createGateway]) expect(() => mount(wrong)).toThrow(form)
})

test('a path in the wrong place or without a slash throws', () => {
  expect(() => (express as Loose)('/ai', gateway)).toThrow("app.use('/ai', mount(gateway))")
  expect(() => (koa as Loose)(gateway, '/ai')).toThrow("app.use(mount('/ai', gateway))")
  expect(() => koa('ai', gateway)).toThrow('the path "ai" must begin with "/"')
  expect(() => fetch(gateway, { prefix: 'ai' })).toThrow('the prefix "ai" must begin with "/"')
  expect(() => (fetch as Loose)(gateway, '/ai')).toThrow('the options must be an object')
})

test.each(['/v1', '/v1/', '/ai/v1', '/ai'])('the path "%s" works with and without /v1', async (path) => {
  const target = `${path.replace(/(?:\/v1)?\/*$/, '')}/v1/models/demo?x=1`
  const headers = { authorization: 'Bearer sk-test' }
  const hosts = [
    Express().use(path, express(gateway)),
    Express4().use(path, express(gateway)),
    new Koa().use(koa(path, gateway)).callback(),
  ]
  for (const host of hosts) {
    const url = await serve(host)
    expect(await (await globalThis.fetch(url + target, { headers })).json()).toMatchObject({ id: 'demo' })
    expect((await globalThis.fetch(`${url}/v2/models`, { headers })).headers.get('x-request-id')).toBeNull()
  }
  const answer = await fetch(gateway, { prefix: path })(new Request(`http://host${target}`, { headers }))
  expect(await answer.json()).toMatchObject({ id: 'demo' })
})

test('HEAD on the mount path is answered, so that clients find the server; at the root it is left to the host', async () => {
  const hosts: [string, Parameters<typeof serve>[0]][] = [
    ['/ai', Express().use('/ai', express(gateway))],
    ['/ai', Express4().use('/ai', express(gateway))],
    ['/ai', new Koa().use(koa('/ai', gateway)).callback()],
    ['', Express().use(express(gateway))],
    ['', new Koa().use(koa(gateway)).callback()],
  ]
  for (const [path, host] of hosts) {
    const url = await serve(host)
    const statusOf = async (target: string, method: string) =>
      (await globalThis.fetch(url + target, { method, signal: AbortSignal.timeout(5_000) })).status
    const owned = path === '' ? 404 : 200
    expect([await statusOf(path, 'HEAD'), await statusOf(`${path}/?x=1`, 'HEAD')]).toEqual([owned, owned])
    expect([await statusOf(path, 'GET'), await statusOf(`${path}/other`, 'HEAD')]).toEqual([404, 404])
  }
  const handle = fetch(gateway, { prefix: '/ai' })
  expect((await handle(new Request('http://host/ai', { method: 'HEAD' }))).status).toBe(200)
  expect((await handle(new Request('http://host/ai'))).status).toBe(404)
})

test('anything with `serves` and `handle` is mounted like a gateway, and sees whether the path ended in a slash', async () => {
  const echo: Mountable = {
    serves: (target) => !target.startsWith('/hosts'),
    handle: async ({ target, base = '?' }) => ({ status: 200, headers: {}, body: `${base} ${target}` }),
  }
  const hosts: Parameters<typeof serve>[0][] = [
    Express().use('/a/b', express(echo)),
    Express4().use('/a/b', express(echo)),
    Express().use('/a', Express.Router().use('/b', express(echo))),
    new Koa().use(koa('/a/b', echo)).callback(),
    new Koa().use(koaMount('/a/b', koa(echo) as never)).callback(),
    new Koa().use(koaMount('/a', koa('/b', echo) as never)).callback(),
  ]
  const expected = [
    ['/a/b', '/a/b '],
    ['/a/b?x=/', '/a/b ?x=/'],
    ['/a/b/', '/a/b /'],
    ['/a/b/?x=1', '/a/b /?x=1'],
    ['/a/b/c/d?x=1', '/a/b /c/d?x=1'],
  ] as const
  for (const host of hosts) {
    const url = await serve(host)
    for (const [path, told] of expected) expect(await (await globalThis.fetch(url + path)).text()).toBe(told)
    expect((await globalThis.fetch(`${url}/a/b/hosts`)).status).toBe(404)
    expect((await globalThis.fetch(`${url}/a/bc`)).status).toBe(404)
  }
  const handle = fetch(echo, { prefix: '/a/b' })
  for (const [path, told] of expected) expect(await (await handle(new Request(`http://host${path}`))).text()).toBe(told)
})
