/** A gateway with an admin API on a real server, and a client of it. */
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { adminApi, type AdminApiOptions, type Identity } from 'modelhatch/admin'
import { mount } from '../../../adapters/hosts/node.ts'
import {
  createGateway,
  memoryContentKeyStore,
  memoryContentStore,
  type Gateway,
  type GatewayOptions,
  type LoggedContent,
  type UsageRecord,
} from '../../../src/index.ts'
import { ContentCipher, ownerOf, packed } from '../../../src/observe/content/cipher.ts'
import { demo, openai } from '../../../src/providers/index.ts'
import { patient } from '../../hosted.ts'
import { eachUnit } from '../../../src/observe/usage/units.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each response has its own shape
  readonly json: any
}

export interface Asked {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Sent as it is, instead of `body`. */
  readonly raw?: string
}

/** Sends a request to a URL whose path is not normalised. */
export function send(origin: string, path: string, asked: Asked = {}): Promise<Answer> {
  const {
    method = asked.body === undefined ? 'GET' : 'POST',
    body,
    raw = body === undefined ? undefined : JSON.stringify(body),
  } = asked
  const { hostname, port } = new URL(origin)
  const isWrite = method !== 'GET' && method !== 'HEAD'
  const headers = {
    ...(isWrite && { 'x-modelhatch-admin': '1' }),
    ...(raw !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(raw) }),
    ...asked.headers,
  }
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, path, method, headers }, (response) => {
      const pieces: Buffer[] = []
      response.on('error', reject)
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString()
        const isJson = response.headers['content-type']?.startsWith('application/json;') === true && text !== ''
        const { statusCode = 0, headers: received } = response
        resolve({ status: statusCode, headers: received, text, json: isJson ? JSON.parse(text) : undefined })
      })
    })
    sent.on('error', reject)
    sent.end(raw)
  })
}

/** The identities of the tests, by the header `x-as`: `admin`, `reader`, `blind`, which sees no content, or the name of an account. */
export function identityOf(as: string | string[] | undefined): Identity | undefined {
  if (typeof as !== 'string') return undefined
  if (as === 'admin') return { role: 'admin', content: true, name: 'operator' }
  if (as === 'reader') return { role: 'admin', content: true, readOnly: true }
  if (as === 'blind') return { role: 'admin' }
  return { role: 'account', account: as, content: !as.startsWith('blind-') }
}

export const authorize: AdminApiOptions['authorize'] = ({ headers }) => identityOf(headers['x-as'])

export interface Served {
  readonly gateway: Gateway
  readonly origin: string
  /** Sends a request as an identity. */
  readonly ask: (as: string | undefined, path: string, asked?: Asked) => Promise<Answer>
}

const models = {
  demo: { provider: demo(), price: { input: '2', output: '8' } },
  'demo-video': { provider: demo(), price: { second: '0.1' } },
}

/** A model whose vendor takes keys of accounts, beside the others. */
export const withVendorKeys: Partial<GatewayOptions> = {
  models: { ...models, vendor: { provider: openai({ apiKey: 'host' }), price: { input: '1', output: '1' } } },
  ownKeys: { secrets: ['a secret of at least 32 characters'] },
}

const encryptionKey = 'a secret of at least 32 characters'

/** The option with which a gateway has the content of these requests. */
export async function withContent(...of: readonly Partial<LoggedContent>[]): Promise<Pick<GatewayOptions, 'content'>> {
  const [store, keyStore] = [memoryContentStore(), memoryContentKeyStore()]
  const cipher = new ContentCipher([encryptionKey])
  for (const fields of of) {
    const said = (role: 'user' | 'assistant', text: string) => ({ role, blocks: [{ kind: 'text', text }] }) as const
    const content: LoggedContent = {
      id: 'req_1',
      account: 'acme',
      group: 'default',
      endpoint: 'chat.completions',
      model: 'demo',
      provider: 'demo',
      providerModel: 'demo',
      stream: false,
      outcome: 'completed',
      at: Date.now(),
      isWhole: true,
      request: { conversation: { turns: [said('user', 'Who?')], tools: [], settings: {} } },
      answer: { answer: { choices: [{ blocks: said('assistant', 'Me.').blocks, end: { reason: 'stop' } }] } },
      media: [],
      ...fields,
    }
    const { id, at, session } = content
    const owner = ownerOf(content)
    const [key] = await keyStore.claim([cipher.keyFor(owner)])
    if (key === undefined) throw new Error('the store claims nothing')
    await store.append([cipher.record({ id, at, session, owner, bytes: await packed(content) }, key)])
  }
  return { content: { encryptionKey, store, keyStore } }
}

/** Two groups, models with prices, and billing. */
export function gatewayWith(options: Partial<GatewayOptions> = {}): Gateway {
  return createGateway({
    models,
    groups: {
      default: { models: '*', caps: [{ name: 'monthly', period: 'month', money: '100' }] },
      vip: { models: ['demo'] },
    },
    billing: { currency: 'EUR' },
    ...options,
  })
}

/** Serves the admin API of a gateway at the root of a server, until the test ends. */
export async function served(
  gateway: Gateway = gatewayWith(),
  options: Partial<AdminApiOptions> = {},
): Promise<Served> {
  const server = createServer(patient, mount(adminApi(gateway, { authorize, ...options })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await Promise.all([gateway.close({ graceMs: 0 }), new Promise((resolve) => server.close(resolve))])
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    gateway,
    origin,
    ask: (as, path, asked = {}) =>
      send(origin, path, { ...asked, headers: { ...(as !== undefined && { 'x-as': as }), ...asked.headers } }),
  }
}

let made = 0

/** A usage record of a completed request. */
export function record(changes: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id: `req_${++made}`,
    account: 'acme',
    group: 'default',
    endpoint: 'chat.completions',
    model: 'demo',
    outcome: 'completed',
    stream: false,
    ...eachUnit(() => 0),
    promptTokens: 10,
    cachedTokens: 4,
    completionTokens: 20,
    reasoningTokens: 5,
    cost: 30n,
    overage: 0n,
    basis: 'reported',
    startedAt: Date.UTC(2030, 0, 1),
    totalMs: 12,
    ...changes,
  }
}
