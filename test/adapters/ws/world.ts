/** Gateways that serve WebSockets, on real servers, and clients that check each message. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { Gateway, GatewayOptions, Receipt } from 'modelhatch'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { defineProvider, openai, type Call } from 'modelhatch/providers'
import { finish, text } from '../../chat-chunks.ts'
import { scriptedVendor, type VendorReply } from 'modelhatch/testing'
import { upgrades, type UpgradeOptions } from 'modelhatch/ws'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import type { ResponseEvent, ResponseObject } from '../../../src/wire/responses.ts'
import { usageOf } from '../../../src/wire/usage.ts'

export const key = 'sk-socket'

/** A model that repeats what the last user message says, word by word, and records what it is asked. */
export function parrot(asked: ChatRequest[] = []) {
  return defineProvider({
    name: 'parrot',
    async *chat({ request }: Call<ChatRequest>) {
      asked.push(request)
      for (const word of saidBy(request).split(/(?<= )/)) yield text(word)
      yield finish('stop', usageOf(10, 5))
    },
  })
}

export function saidBy({ messages }: ChatRequest): string {
  const { content } = messages.findLast(({ role }) => role === 'user') ?? {}
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => ('text' in part ? part.text : '')).join('')
}

export interface World {
  readonly gateway: Gateway
  readonly server: Server
  readonly port: number
  readonly receipts: Receipt[]
  /** Opens a WebSocket and waits until it is open. */
  readonly connect: (headers?: Record<string, string>) => Promise<Client>
}

interface Setup {
  readonly options?: Partial<GatewayOptions>
  readonly upgrade?: UpgradeOptions
  readonly path?: string
  readonly listener?: (gateway: Gateway) => RequestListener
}

export async function world({ options, upgrade, path = '', listener = mount }: Setup = {}): Promise<World> {
  const receipts: Receipt[] = []
  const gateway = createGateway({
    keys: { [key]: {}, 'sk-paying': { account: 'a' } },
    models: { m: parrot() },
    retry: { maxAttempts: 1 },
    ...options,
    hooks: {
      ...options?.hooks,
      receipt(receipt) {
        receipts.push(receipt)
        options?.hooks?.receipt?.(receipt)
      },
    },
  })
  const server = createServer({ keepAliveTimeout: 600_000 }, listener(gateway))
  server.on('upgrade', upgrades(path, gateway, upgrade))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const clients: Client[] = []
  onTestFinished(async () => {
    for (const client of clients) client.ws.terminate()
    server.closeAllConnections()
    await Promise.all([gateway.close({ graceMs: 0 }), new Promise((resolve) => server.close(resolve))])
  })
  const connect = async (headers: Record<string, string> = { authorization: `Bearer ${key}` }) => {
    const client = new Client(`ws://127.0.0.1:${port}${path}/v1/responses`, headers)
    clients.push(client)
    await client.opened
    return client
  }
  return { gateway, server, port, receipts, connect }
}

/** A vendor with a responses endpoint, as a provider. */
export async function responsesVendor(reply: VendorReply) {
  const vendor = await scriptedVendor(reply)
  onTestFinished(() => vendor.close())
  return { vendor, provider: openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor', responses: true }) }
}

export type Message = ResponseEvent & { readonly status?: number; readonly error?: Record<string, unknown> }

/** The upgrade was refused. */
export class Refused extends Error {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: string

  constructor(status: number, headers: Record<string, unknown>, body: string) {
    super(`the upgrade was refused with ${status}: ${body}`)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

export class Client {
  readonly ws: WebSocket
  readonly opened: Promise<void>
  /** Resolves with the code and the reason. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly #messages: Message[] = []
  #isClosed = false
  readonly #wakes = new Set<() => void>()

  constructor(url: string, headers: Record<string, string>) {
    this.ws = new WebSocket(url, { headers, maxPayload: 0 })
    this.opened = new Promise((resolve, reject) => {
      this.ws.once('open', resolve)
      this.ws.once('error', reject)
      this.ws.once('unexpected-response', (_, response) => {
        let body = ''
        response.on('data', (piece: Buffer) => (body += piece.toString()))
        response.on('end', () => reject(new Refused(response.statusCode ?? 0, response.headers, body)))
      })
    })
    this.opened.catch(() => undefined)
    this.ws.on('error', () => undefined)
    this.ws.on('message', (data: Buffer, isBinary) => {
      if (isBinary) throw new Error('the server sent a binary message')
      this.#messages.push(JSON.parse(data.toString()) as Message)
      this.#wakeAll()
    })
    this.closed = new Promise((resolve) => {
      this.ws.on('close', (code, reason) => {
        this.#isClosed = true
        resolve({ code, reason: reason.toString() })
        this.#wakeAll()
      })
    })
  }

  #wakeAll(): void {
    for (const wake of this.#wakes) wake()
    this.#wakes.clear()
  }

  create(body: object): void {
    this.ws.send(JSON.stringify({ type: 'response.create', model: 'm', store: false, ...body }))
  }

  /** The next message, of one lane if it is given. Rejects if the socket closes before. */
  async next(lane?: string): Promise<Message> {
    for (;;) {
      const at = this.#messages.findIndex((message) => lane === undefined || message['stream_id'] === lane)
      if (at >= 0) return this.#messages.splice(at, 1)[0] as Message
      if (this.#isClosed) throw new Error('the socket closed before the next message')
      await new Promise<void>((resolve) => void this.#wakes.add(resolve))
    }
  }

  /** The messages of one response, of one lane if it is given, up to the one that ends it or refuses it. */
  async response(lane?: string): Promise<Message[]> {
    const messages: Message[] = []
    for (;;) {
      const message = await this.next(lane)
      messages.push(message)
      if (/^(?:error|response\.(?:completed|incomplete|failed))$/.test(message.type)) return messages
    }
  }

  /** Asks, and gives the response. Throws unless it completes. */
  async ask(body: object): Promise<ResponseObject> {
    this.create(body)
    const last = (await this.response()).at(-1)
    if (last?.type !== 'response.completed') throw new Error(`the response ended with ${JSON.stringify(last)}`)
    return last.response as ResponseObject
  }
}

/** The text of a response. */
export function textOf({ output }: ResponseObject): string {
  const parts = output.flatMap(({ content }) => (content ?? []) as { readonly text?: string }[])
  return parts.map((part) => part.text ?? '').join('')
}
