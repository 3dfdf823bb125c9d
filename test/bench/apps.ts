/** Makes the server of each kind, with all features of a gateway in production. */
import { Agent, type RequestListener } from 'node:http'
import express from 'express'
import { createProxyMiddleware } from 'http-proxy-middleware'
import Koa from 'koa'
import { createGateway, type Gateway, type GatewayOptions } from 'modelhatch'
import { mount as mountInExpress } from 'modelhatch/express'
import { mount as mountInKoa } from 'modelhatch/koa'
import { mount as mountOnNode } from 'modelhatch/node'
import { anthropic, openai } from 'modelhatch/providers'
import { byHand } from './by-hand.ts'
import { relay } from './relay.ts'
import { booksOf } from './stores.ts'
import { crowd, type Kind } from './subjects.ts'
import { scenarios } from './traffic.ts'

export interface App {
  readonly listener: RequestListener
  readonly close: () => Promise<void>
}

/** `vendor` is an origin such as `http://127.0.0.1:4000`; `name` the schema or key prefix in a database. */
export async function appOf(kind: Kind, vendor: string, name: string): Promise<App> {
  const app = (listener: (request: never, response: never) => unknown): App => ({
    listener: listener as RequestListener,
    close: async () => undefined,
  })
  const inExpress = (gateway: Gateway) => express().use('/ai', mountInExpress(gateway)) as RequestListener
  switch (kind) {
    case 'relay':
      return app(relay(vendor))
    case 'node':
      return app(mountOnNode(gatewayTo(vendor)))
    case 'express':
      return app(inExpress(gatewayTo(vendor)))
    case 'koa':
      return app(new Koa().use(mountInKoa('/ai', gatewayTo(vendor))).callback())
    case 'proxy': {
      // As many kept-alive connections as the gateway opens.
      const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: Infinity })
      const forward = createProxyMiddleware({ target: vendor, changeOrigin: true, agent })
      return app(express().use('/ai', forward) as RequestListener)
    }
    case 'by-hand':
      return app(byHand(vendor))
    case 'metered':
    case 'crowded':
    case 'postgres':
    case 'redis': {
      const books = await booksOf(kind, name)
      const gateway = await metered(vendor, kind, books.storage)
      const close = async () => {
        await gateway.close({ graceMs: 0 })
        await books.close()
      }
      return { listener: inExpress(gateway), close }
    }
  }
}

/** Limits that are never reached, prices, and accounts with enough money. */
async function metered(vendor: string, kind: Kind, storage: GatewayOptions['storage']): Promise<Gateway> {
  const rate = { requests: '1000000000/s', tokens: '100000000000/s', concurrent: 9_999 } as const
  // All accounts of the crowded server, and so all of its open calls, share one limit.
  const per = kind === 'crowded' ? 'all' : 'account'
  const names = ['bench', ...Array.from({ length: crowd.accounts }, (_, at) => `bench-${at}`)]
  const gateway = gatewayTo(vendor, {
    keys: Object.fromEntries(names.map((name) => [`sk-${name}`, { group: 'everyone', account: name }])),
    groups: { everyone: { models: '*', rate: { ...rate, per } } },
    billing: { currency: 'CNY' },
    ...(storage && { storage }),
  })
  for (let from = 0; from < names.length; from += 10) {
    const batch = names.slice(from, from + 10)
    const topUp = (account: string) =>
      gateway.admin.accounts.topUp({ account, amount: '1000000000', reference: `bench:${account}` })
    await Promise.all(batch.map(topUp))
  }
  return gateway
}

let receipts = 0

function gatewayTo(vendor: string, more: Partial<GatewayOptions> = {}): Gateway {
  const price = { input: '2', output: '8' }
  const provider = openai({ baseURL: `${vendor}/v1`, apiKey: 'sk-vendor' })
  const claude = anthropic({ baseURL: vendor, apiKey: 'sk-vendor' })
  const providerOf = (name: string) => (name.startsWith('native') ? claude : provider)
  const names = [...scenarios.map(({ name }) => name), 'held', 'silent']
  return createGateway({
    models: Object.fromEntries(
      names.flatMap((name) => [
        [name, { provider: providerOf(name), price }],
        [`renamed:${name}`, { provider: providerOf(name), price, providerModel: name }],
      ]),
    ),
    keys: { 'sk-bench': { group: 'everyone', account: 'bench' } },
    groups: { everyone: { models: '*' } },
    hooks: { receipt: () => void receipts++ },
    ...more,
  })
}
