/** The document and its files, in every host. */
import express from 'express'
import expressV4 from 'express-v4'
import Koa from 'koa'
import koaMount from 'koa-mount'
import helmet from 'helmet'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync } from 'node:zlib'
import { createGateway, type Mountable } from 'modelhatch'
import type { AdminFailure } from 'modelhatch/admin'
import { createConsole } from 'modelhatch/console'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountFetch } from 'modelhatch/fetch'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { assetReply, assetsOf } from '../../../adapters/console/assets.ts'
import { Site } from '../../../adapters/console/site.ts'
import { pageFiles } from '../../../.build/page.ts'
import { authorize } from './stage.ts'

const gateway = createGateway({ keys: { 'sk-test': {} }, models: { demo: demo() } })
const site = createConsole(gateway, { authorize, title: 'Models & <more>', gatewayUrl: '/ai' })
const admin = { cookie: 'who=admin' }
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

async function serve(listener: unknown): Promise<string> {
  const server = createServer({ keepAliveTimeout: 600_000 }, listener as RequestListener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const hosts: [name: string, path: string, listener: (mounted: Mountable) => unknown][] = [
  ['Express 5', '/a/console', (mounted) => express().use('/a/console', mountExpress(mounted))],
  ['Express 4', '/a/console', (mounted) => expressV4().use('/a/console', mountExpress(mounted))],
  ['Express 5 behind helmet', '/console', (mounted) => express().use(helmet()).use('/console', mountExpress(mounted))],
  ['Koa 3', '/a/console', (mounted) => new Koa().use(mountKoa('/a/console', mounted)).callback()],
  [
    'koa-mount',
    '/a/console',
    (mounted) => new Koa().use(koaMount('/a/console', mountKoa(mounted) as never)).callback(),
  ],
  ['node:http', '', (mounted) => mountNode(mounted)],
]

describe.each(hosts)('in %s', (_, path, listenerOf) => {
  test('the path without a slash leads to the one with it; the document names files that are there', async () => {
    const url = (await serve(listenerOf(site))) + path
    if (path !== '') {
      const bare = await fetch(`${url}?x=1`, { headers: admin, redirect: 'manual' })
      expect([bare.status, bare.headers.get('location')]).toEqual([302, './console/?x=1'])
      expect((await fetch(url, { headers: admin })).url).toBe(`${url}/`)
    }
    const response = await fetch(`${url}/`, { headers: admin })
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "media-src 'self' blob:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(html).toContain('<title>Models &#38; &#60;more&#62;</title>')
    const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name)
    expect(named.length).toBe(4)
    expect(named.filter((name) => !name.startsWith(`assets/${version}-`))).toEqual([])
    expect(html.replaceAll(/<script (?:type="module" )?src="[^"]+"><\/script>/g, '')).not.toMatch(
      /<script|<style|\son\w+=|\sstyle=/,
    )
    for (const name of named) {
      const file = await fetch(`${url}/${name}`, { headers: admin })
      expect(file.status, name).toBe(200)
      expect(file.headers.get('cache-control')).toBe('private, max-age=31536000, immutable')
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(10)
    }
  })

  test('strangers get the same 404 everywhere, and unknown paths are a 404 for everyone', async () => {
    const url = (await serve(listenerOf(site))) + path
    const html = await (await fetch(`${url}/`, { headers: admin })).text()
    const script = /src="([^"]+)"/.exec(html)?.[1] ?? ''
    const statusOf = async (target: string, headers = {}) =>
      (await fetch(url + target, { headers, redirect: 'manual' })).status
    const targets = ['/', `/${script}`, '/api/me', '/gateway/v1/models', ...(path === '' ? [] : [''])]
    for (const target of targets) expect(await statusOf(target), target).toBe(404)
    for (const target of [
      '/index.html',
      '/assets',
      '/assets/',
      '/assets/x/page',
      '/assets/x/page/%2e%2e/assets.ts',
      '/assets/x/../../package.json',
      '/assets/x/document.ts',
      '/assets/x/page/tsconfig.json',
      '/gateway',
      '/apis',
    ]) {
      expect(await statusOf(target, admin), target).toBe(404)
    }
  })
})

test('behind fetch', async () => {
  const handle = mountFetch(site, { prefix: '/a/console' })
  const ask = (path: string) =>
    handle(new Request(`http://localhost/a${path}`, { headers: { ...admin, host: 'localhost' } }))
  expect((await ask('/console')).headers.get('location')).toBe('./console/')
  expect(await (await ask('/console/')).text()).toContain('<div id="console">')
})

describe('the page in the package', () => {
  const loadBuilt = async () => assetsOf(await pageFiles({ minify: true }))

  test.each(['en', 'zh'])(
    'has less than 70 kB, compressed, with all that it ever loads in one language: %s',
    async (language) => {
      const page = new Site(gateway, { authorize }, { title: 'Modelhatch', gatewayUrl: '' }, loadBuilt)
      const url = await serve(mountNode(page))
      const html = await (await fetch(url, { headers: admin })).text()
      const base = /assets\/[^/]+/.exec(html)?.[0] ?? ''
      const names = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name)
      expect(new Set(names)).toEqual(
        new Set(['early.js', 'icon.svg', 'main.js', 'style.css'].map((name) => `${base}/${name}`)),
      )
      let bytes = brotliCompressSync(html).byteLength
      for (const name of new Set([...names, `${base}/words/${language}.js`])) {
        const response = await fetch(`${url}/${name}`, { headers: { ...admin, 'accept-encoding': 'gzip, br' } })
        expect(response.headers.get('content-encoding')).toBe('br')
        bytes += Number(response.headers.get('content-length'))
      }
      expect(bytes).toBeGreaterThan(40_000)
      expect(bytes).toBeLessThan(70_000)
    },
  )

  test('keeps the copyright notices of the libraries in it', async () => {
    const { files } = await loadBuilt()
    const text = Buffer.from(files.get('main.js')?.plain ?? []).toString()
    expect(text).toMatch(/\/\*! preact, MIT License: Copyright .+ Jason Miller/)
    expect(text).toMatch(/\/\*! uplot, MIT License: Copyright .+ Leon Sorokin/)
    const licenses = Buffer.from(files.get('licenses.txt')?.plain ?? []).toString()
    expect(licenses.match(/Permission is hereby granted/g)).toHaveLength(2)
  })
})

test('files are sent as the client accepts them, and under another version without being cached', async () => {
  const url = await serve(mountNode(site))
  const html = await (await fetch(url, { headers: admin })).text()
  const name = /src="([^"]+main\.js)"/.exec(html)?.[1] ?? ''
  const encodingOf = async (accepted: string) =>
    (await fetch(`${url}/${name}`, { headers: { ...admin, 'accept-encoding': accepted } })).headers.get(
      'content-encoding',
    )
  expect(await Promise.all(['identity', 'gzip;q=0', 'br', 'br;q=0, gzip', 'gzip;q=0.5'].map(encodingOf))).toEqual([
    null,
    null,
    'br',
    'gzip',
    'gzip',
  ])
  const other = await fetch(`${url}/${name.replace(/assets\/[^/]+/, 'assets/0.0.9-00000000')}`, { headers: admin })
  expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect((await fetch(`${url}/${name}`, { method: 'POST', headers: admin })).status).toBe(405)
})

test('a file is compressed once in each encoding', async () => {
  const assets = assetsOf(new Map([['a.js', Buffer.from('a'.repeat(1_000))]]))
  const ask = async (accepted: string) =>
    (await assetReply(assets, assets.version, 'a.js', { headers: { 'accept-encoding': accepted } }))?.body
  const packed = await ask('gzip, br')
  expect(packed).toBe(await ask('br'))
  expect(packed).not.toEqual(await ask('gzip'))
})

test('an `authorize` that fails lets nobody in, and the host learns why', async () => {
  const failures: AdminFailure[] = []
  const failing = createConsole(gateway, {
    authorize: () => Promise.reject(new Error('the session store is down')),
    onError: (failure) => void failures.push(failure),
  })
  const url = await serve(mountNode(failing))
  for (const target of ['/', '/api/me', '/gateway/v1/models']) {
    const response = await fetch(url + target, { headers: admin })
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('session store')
    expect(failures.pop()).toMatchObject({
      id: response.headers.get('x-request-id'),
      error: { message: 'the session store is down' },
    })
  }
})

test('files that cannot be read are read again with the next request', async () => {
  const assets = assetsOf(new Map([['a.js', Buffer.from('a')]]))
  let tries = 0
  const load = async () => {
    if (tries++ === 0) throw new Error('too many open files')
    return assets
  }
  const url = await serve(mountNode(new Site(gateway, { authorize }, { title: 'T', gatewayUrl: '' }, load)))
  const status = async () => (await fetch(`${url}/assets/1/a.js`, { headers: admin })).status
  expect([await status(), await status()]).toEqual([500, 200])
})

test('invalid options throw an error that names them', () => {
  expect(() => createConsole(gateway, undefined as never)).toThrow('authorize')
  expect(() => createConsole(gateway, {} as never)).toThrow('authorize')
  expect(() => createConsole(gateway, { authorize, title: '' })).toThrow('"title" must be a non-empty string')
  expect(() => createConsole(gateway, { authorize, gatewayUrl: 7 as never })).toThrow('"gatewayUrl"')
  expect(() => createConsole(gateway, { authorize, readonly: true } as never)).toThrow('readonly')
})
