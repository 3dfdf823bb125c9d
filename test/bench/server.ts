/** Child process with one server under test, with all features of a gateway in production. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createProxyMiddleware } from 'http-proxy-middleware'
import Koa from 'koa'
import { createGateway, type Gateway, type GatewayOptions } from 'modelhatch'
import { mount as mountInExpress } from 'modelhatch/express'
import { mount as mountInKoa } from 'modelhatch/koa'
import { mount as mountOnNode } from 'modelhatch/node'
import { openai } from 'modelhatch/providers'
import { serveParent } from './child.ts'
import { relay } from './relay.ts'
import { booksOf } from './stores.ts'
import { scenarios } from './traffic.ts'

/** The servers by name; `vendor` is an origin such as `http://127.0.0.1:4000`. */
const servers: Readonly<Record<string, (vendor: string) => RequestListener | Promise<RequestListener>>> = {
  relay,
  node: (vendor) => mountOnNode(gatewayTo(vendor)),
  express: (vendor) => express().use('/ai', mountInExpress(gatewayTo(vendor))) as RequestListener,
  metered: (vendor) => metered(vendor, 'metered'),
  postgres: (vendor) => metered(vendor, 'postgres'),
  koa: (vendor) => new Koa().use(mountInKoa('/ai', gatewayTo(vendor))).callback(),
  proxy: (vendor) =>
    express().use('/ai', createProxyMiddleware({ target: vendor, changeOrigin: true })) as RequestListener,
}

let receipts = 0

let close = async (): Promise<void> => undefined

/** Limits that are never reached, prices, and an account with enough money. */
async function metered(vendor: string, kind: string): Promise<RequestListener> {
  const books = booksOf(kind)
  const gateway = gatewayTo(vendor, {
    groups: {
      everyone: { models: '*', rate: { requests: '1000000000/s', tokens: '100000000000/s', concurrent: 9_999 } },
    },
    billing: { currency: 'CNY' },
    ...(books.storage && { storage: books.storage }),
  })
  close = async () => {
    await gateway.close({ graceMs: 0 })
    await books.close()
  }
  await gateway.admin.accounts.topUp({ account: 'bench', amount: '1000000000', reference: 'bench' })
  return express().use('/ai', mountInExpress(gateway)) as RequestListener
}

function gatewayTo(vendor: string, more: Partial<GatewayOptions> = {}): Gateway {
  const price = { input: '2', output: '8' }
  const provider = openai({ baseURL: `${vendor}/v1`, apiKey: 'sk-vendor' })
  const names = [...scenarios.map(({ name }) => name), 'held']
  return createGateway({
    models: Object.fromEntries(
      names.flatMap((name) => [
        [name, { provider, price }],
        [`renamed:${name}`, { provider, price, providerModel: name }],
      ]),
    ),
    keys: { 'sk-bench': { group: 'everyone', account: 'bench' } },
    groups: { everyone: { models: '*' } },
    hooks: { receipt: () => void receipts++ },
    ...more,
  })
}

const server = createServer()
server.keepAliveTimeout = 60_000

serveParent({
  listen: async ({ kind, vendor }: { kind: string; vendor: string }) => {
    const make = servers[kind]
    if (make === undefined) throw new Error(`unknown server "${kind}"`)
    server.on('request', await make(vendor))
    return new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', 4096, () => resolve((server.address() as AddressInfo).port))
    })
  },
  /** Microseconds of CPU since the start, including system time. */
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  receipts: () => receipts,
  close: () => close(),
  memory: () => {
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    return { rss, heap: heapUsed }
  },
})
