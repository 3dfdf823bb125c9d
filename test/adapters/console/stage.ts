/** A gateway with two accounts, keys, payments and a month of usage, and servers that mount its console. */
import express from 'express'
import Koa from 'koa'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway, landscapeVideo } from 'modelhatch'
import type {
  Exchange,
  Gateway,
  GatewayOptions,
  Mountable,
  StorageBundle,
  UsageRecord,
  VendorReportReader,
} from 'modelhatch'
import { createConsole, type ConsoleOptions } from 'modelhatch/console'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountKoa } from 'modelhatch/koa'
import { defineProvider, demo, openai } from 'modelhatch/providers'
import { eachUnit } from '../../../src/observe/usage/units.ts'

const local = demo({ paceMs: 1 })

/** A vendor that is always overloaded, so that requests fall back. */
const overloaded = defineProvider({
  name: 'overloaded',
  async chat() {
    throw new Error('overloaded')
  },
})

const models: GatewayOptions['models'] = {
  'claude-sonnet': {
    provider: local,
    displayName: 'Claude Sonnet',
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    price: { input: '3', cached: '0.3', output: '15' },
    cost: { input: '2', output: '10' },
  },
  'gpt-mini': { provider: local, contextWindow: 400_000, price: { input: '0.25', cached: '0.025', output: '2' } },
  'gemini-flash': { provider: local, contextWindow: 1_048_576, price: { input: '0.3', output: '2.5' } },
  steady: {
    route: [{ provider: overloaded }, { provider: local }],
    displayName: 'With a fallback',
    price: { input: '1', output: '4' },
  },
  gpt: { provider: openai({ apiKey: 'sk-of-the-host' }), price: { input: '2', output: '8' } },
  'demo-embedding': { provider: local, price: { input: '0.02' } },
  'demo-image': { provider: local, price: { image: '0.04' } },
  'demo-video-landscape': { provider: local, video: landscapeVideo, price: { second: '0.1' } },
}

/** A bill with the same on each day. */
const bill: VendorReportReader = async ({ from, to }) => {
  const starts = Array.from({ length: (to - from) / 86_400_000 }, (_, day) => from + day * 86_400_000)
  const row = (start: number) => ({ start, end: start + 86_400_000, model: 'claude-sonnet' })
  const counts = { requests: 30, inputTokens: 90_000, cachedTokens: 8_000, outputTokens: 14_000 }
  return {
    usage: starts.map((start) => ({ ...row(start), ...counts })),
    charges: starts.map((start) => ({
      day: new Date(start).toISOString().slice(0, 10),
      model: 'claude-sonnet',
      cost: '0.31',
    })),
  }
}

export const accounts = ['acme', 'globex'] as const
export type Account = (typeof accounts)[number]

export interface Stage {
  readonly gateway: Gateway
  /** A key of each account. */
  readonly keys: Readonly<Record<Account, string>>
  /** Public ids of the keys of each account. */
  readonly keyIds: Readonly<Record<Account, readonly string[]>>
  /** Ids of the requests of each account, oldest first. */
  readonly requests: Readonly<Record<Account, readonly string[]>>
}

type Storage = StorageBundle & Required<Pick<StorageBundle, 'usage'>>

/** `records`: how many requests each account has made in the last thirty days. */
export async function openStage(storage: Storage, records = 400): Promise<Stage> {
  const gateway = createGateway({
    models,
    groups: {
      standard: {
        models: '*',
        caps: [
          { name: 'monthly', period: 'month', money: '500' },
          { name: 'daily', period: 'day', calls: 1_000, thresholds: [0.1] },
        ],
      },
      trial: { models: ['gpt-mini', 'gemini-flash'], rate: { requests: '20/min' } },
    },
    keys: { 'sk-in-options': { account: 'globex', group: 'trial', name: 'deployed' } },
    registry: { providers: { local } },
    billing: { currency: 'EUR', minimumTopUp: '1' },
    usage: { lines: true },
    content: { encryptionKey: 'a secret of at least 32 characters' },
    reports: { demo: bill },
    ownKeys: { secrets: ['a secret of at least 32 characters'] },
    storage,
  })
  const stage = {
    gateway,
    keys: { acme: '', globex: '' },
    keyIds: { acme: [], globex: [] },
    requests: { acme: [], globex: [] },
  }
  for (const account of accounts) Object.assign(stage, await fill(stage, account, storage, records))
  return stage
}

async function fill({ gateway, keys, keyIds, requests }: Stage, account: Account, { usage }: Storage, records: number) {
  const { accounts: books, keys: admin } = gateway.admin
  await books.open({ id: account, name: account === 'acme' ? 'Acme GmbH' : 'Globex Corporation' })
  await books.topUp({ account, amount: '250', reference: `order-${account}-1`, note: 'Invoice 2030-117' })
  await books.adjust({ account, amount: '-4.5', reference: `correction-${account}`, note: 'Duplicate payment' })
  const backend = await admin.create({ account, group: 'standard', name: `${account} backend`, tags: ['team:search'] })
  const expiresAt = Date.now() + 12 * 86_400_000
  const rate = { requests: '60/min', tokens: '100000/min', concurrent: 4 } as const
  const laptop = await admin.create({
    account,
    group: 'trial',
    name: `${account} laptop`,
    user: 'ada',
    rate,
    expiresAt,
  })
  const retired = await admin.create({ account, group: 'standard', name: `${account} retired` })
  await admin.revoke(account, retired.record.id)
  const ids = [backend, laptop, retired].map(({ record }) => record.id)
  const rows = Array.from({ length: records }, (_, at) => recordOf(account, ids, at, records))
  for (let at = 0; at < rows.length; at += 1_000) await usage.append(rows.slice(at, at + 1_000))
  return {
    keys: { ...keys, [account]: backend.key },
    keyIds: { ...keyIds, [account]: ids },
    requests: { ...requests, [account]: rows.map(({ id }) => id) },
  }
}

/** Always the same number between 0 and 1 for the same seed. */
function chance(seed: number): number {
  const value = Math.sin(seed * 12.9898 + 78.233) * 43_758.5453
  return value - Math.floor(value)
}

function recordOf(
  account: Account,
  [backend = '', laptop = '']: readonly string[],
  at: number,
  of: number,
): UsageRecord {
  const seed = at + (account === 'acme' ? 0 : 7_919)
  const days = 30 * (1 - at / of)
  // More by day than by night, more on working days.
  const startedAt = Math.floor(Date.now() - days * 86_400_000 - chance(seed) * 3_600_000)
  const model = ['claude-sonnet', 'gpt-mini', 'claude-sonnet', 'gemini-flash', 'steady', 'demo-embedding'][
    Math.floor(chance(seed + 0.3) * 6)
  ]
  const failed = chance(seed + 0.5) < 0.03
  const cancelled = !failed && chance(seed + 0.6) < 0.02
  const promptTokens = Math.floor(400 + 9_000 * chance(seed + 0.1) ** 3)
  const completionTokens = failed || model === 'demo-embedding' ? 0 : Math.floor(40 + 1_400 * chance(seed + 0.2) ** 2)
  const firstByteMs = Math.floor(180 + 900 * chance(seed + 0.4) ** 2)
  const price = { 'claude-sonnet': [3, 15], 'gpt-mini': [0.25, 2], 'gemini-flash': [0.3, 2.5] }[model ?? ''] ?? [1, 4]
  const cost = failed ? 0 : Math.round(promptTokens * (price[0] ?? 0) + completionTokens * (price[1] ?? 0))
  return {
    id: `req_${startedAt.toString(16).padStart(12, '0')}${account}${String(at).padStart(8, '0')}`,
    account,
    group: at % 3 === 0 ? 'trial' : 'standard',
    key: at % 3 === 0 ? laptop : backend,
    ...(at % 3 === 0 && { user: 'ada' }),
    tags: ['team:search'],
    endpoint: model === 'demo-embedding' ? 'embeddings' : 'chat.completions',
    model: model ?? '',
    provider: 'demo',
    providerModel: model ?? '',
    outcome: failed ? 'failed' : cancelled ? 'cancelled' : 'completed',
    ...(failed && { code: 'service_unavailable' as const }),
    attempts: failed ? 3 : model === 'steady' ? 2 : 1,
    stream: at % 4 !== 0,
    ...eachUnit(() => 0),
    promptTokens,
    cachedTokens: at % 5 === 0 ? promptTokens >> 1 : 0,
    completionTokens,
    reasoningTokens: at % 7 === 0 ? completionTokens >> 2 : 0,
    cost: BigInt(cost),
    ...(model === 'claude-sonnet' && { vendorCost: BigInt(promptTokens * 2_000 + completionTokens * 10_000) }),
    overage: 0n,
    basis: 'reported',
    startedAt,
    firstByteMs,
    totalMs: firstByteMs + completionTokens * 9,
  }
}

/** The cookie of these tests: `who=admin`, or `who=acme` for an account. Everyone else gets nothing. */
export function authorize({ headers }: Exchange): ReturnType<ConsoleOptions['authorize']> {
  const [, who] = /(?:^|;\s*)who=(\w+)/.exec(String(headers['cookie'] ?? '')) ?? []
  if (who === undefined) return undefined
  return who === 'admin' ? { role: 'admin', content: true } : { role: 'account', account: who }
}

export interface Served {
  /** The URL of the console, with a slash at its end. */
  readonly url: string
  readonly close: () => Promise<void>
}

export const path = '/tools/console'

/** Serves the console below a path of two segments, next to the gateway in `/ai`. */
export async function serveConsole(
  kind: 'Express' | 'Koa',
  gateway: Gateway,
  options: Partial<ConsoleOptions> = {},
): Promise<Served> {
  return serveSite(kind, gateway, createConsole(gateway, { authorize, gatewayUrl: '/ai', ...options }))
}

export async function serveSite(kind: 'Express' | 'Koa', gateway: Gateway, site: Mountable): Promise<Served> {
  const listener =
    kind === 'Express'
      ? express().use('/ai', mountExpress(gateway)).use(path, mountExpress(site))
      : new Koa().use(mountKoa('/ai', gateway)).use(mountKoa(path, site)).callback()
  const server = createServer({ keepAliveTimeout: 600_000 }, listener as RequestListener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
