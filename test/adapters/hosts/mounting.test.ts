/** Invalid arguments of `mount` throw immediately, not with each request. */
import Express from 'express'
import Express4 from 'express-v4'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { createGateway } from 'modelhatch'
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
