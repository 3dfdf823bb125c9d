import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type ServerOptions } from 'ws'
import { allKeyHeaders } from '../../src/callers/authenticate.ts'
import { addressOf } from '../../src/endpoints/aliases.ts'
import { refuse } from '../../src/http/answers.ts'
import { ignore } from '../../src/http/ignore.ts'
import { pathOf } from '../../src/http/target.ts'
import { GatewayError, type Caller, type Gateway } from '../../src/index.ts'
import { CallExchange, callHead } from './call-exchange.ts'
import { isServer, serveWithoutUpgrade } from './without-upgrade.ts'
import type { Settings } from './options.ts'
import { ResponsesSocket } from './responses-socket.ts'
import { Sockets } from './sockets.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

// Not by `import`, which reads all properties of the module: its `WebSocket` loads Node's own undici, in 30 ms.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Milliseconds that a client has to read a refusal. */
const refusalMs = 3_000

/** A listener for the `upgrade` event of an HTTP/1.1 server. */
export type UpgradeListener = (this: unknown, request: UpgradeRequest, socket: Duplex, head: Buffer) => void

/** Milliseconds that a client has to answer a close. */
const closeTimeout = 3_000

/** Accepts, rejects or passes on the upgrades of one server. */
export class Upgrader {
  readonly #prefix: string
  readonly #gateway: Gateway
  readonly #settings: Settings
  readonly #sockets: Sockets
  readonly #server: WebSocketServer

  constructor(prefix: string, gateway: Gateway, settings: Settings) {
    this.#prefix = prefix
    this.#gateway = gateway
    this.#settings = settings
    this.#sockets = new Sockets(settings)
    const limits: ServerOptions & { readonly closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: gateway.sizes.jsonBytes,
      maxFragments: 4_096,
      maxBufferedChunks: 65_536,
      autoPong: false,
      closeTimeout,
      // No subprotocol is selected: the first one offered may contain a key.
      handleProtocols: () => false,
    }
    this.#server = new WebSocketServer(limits)
  }

  /** Returns whether the request is for the gateway. `server`: what has emitted the event, if it is known. */
  upgrade(server: unknown, request: UpgradeRequest, socket: Duplex, head: Buffer): boolean {
    const target = this.#below(request.url ?? '/')
    const isServed = target !== undefined && this.#gateway.serves(target)
    const isWebSocket = String(request.headers.upgrade).toLowerCase() === 'websocket'
    if (!isServed || (isWebSocket && !isResponses(target))) return false
    if (isWebSocket) void this.#accept(target, request, socket, head)
    else if (isServer(server)) serveWithoutUpgrade(server, request, socket, head)
    else refuseUpgrade(socket, new GatewayError('upgrade_required'))
    return true
  }

  /** Never rejects. */
  async #accept(target: string, request: UpgradeRequest, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', ignore)
    const gateway = this.#gateway
    let reserved = false
    try {
      if (isForeign(request, this.#settings.origins)) throw new GatewayError('origin_not_allowed')
      this.#sockets.reserve()
      reserved = true
      const calls = callHead(request, { base: this.#prefix, target, ip: this.#settings.address(request) })
      const opening = new CallExchange(calls, '{}')
      const caller = nameOf(await gateway.authenticate(opening))
      if (socket.destroyed) return
      if (gateway.connections.isRetired) throw new GatewayError('service_unavailable', { retryAfterMs: 1_000 })
      this.#sockets.makeRoom(caller)
      this.#server.handleUpgrade(request as IncomingMessage, socket, head, (ws) => {
        reserved = false
        const [sockets, settings] = [this.#sockets, this.#settings]
        new ResponsesSocket({ ws, socket, caller, head: calls, gateway, sockets, settings }).open()
      })
    } catch (error) {
      refuseUpgrade(socket, GatewayError.from(error))
    } finally {
      if (reserved) this.#sockets.release()
    }
  }

  /** The target below the mount path; undefined if it is elsewhere. */
  #below(url: string): string | undefined {
    const prefix = this.#prefix
    if (prefix === '') return url
    return url.startsWith(prefix) && /^[/?]/.test(url.slice(prefix.length)) ? url.slice(prefix.length) : undefined
  }
}

const endpoint = '/v1/responses'

function isResponses(target: string): boolean {
  return pathOf(target) === endpoint || pathOf(addressOf(target)?.target ?? '') === endpoint
}

/** Keys are unique among all accounts, so a key needs no account beside it. */
function nameOf({ key, account }: Caller): string {
  return key === undefined ? `account ${account}` : `key ${key}`
}

/**
 * Whether a page of another site may have sent an upgrade on behalf of a user who did not ask for it. Pages cannot add
 * headers to a WebSocket, but the browser adds what it has for the host: cookies, passwords, certificates.
 */
function isForeign({ headers }: UpgradeRequest, allowed: readonly string[]): boolean {
  const { origin, host, cookie, authorization } = headers
  if (origin === undefined) return false
  const isBasic = /^basic\b/i.test(String(authorization))
  if (cookie === undefined && !isBasic && allKeyHeaders.some((name) => headers[name] !== undefined)) return false
  if (allowed.includes(String(origin))) return false
  return hostOf(String(origin)) !== String(host).toLowerCase()
}

/** The host and port in an origin; undefined for `null` and anything invalid. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase()
}

/** Answers an upgrade with an error, and closes the connection. */
function refuseUpgrade(socket: Duplex, error: GatewayError): void {
  const { status, headers, body } = refuse(error)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    ...lines,
    `content-length: ${Buffer.byteLength(body as string)}`,
    'connection: close',
  ]
  setTimeout(() => socket.destroy(), refusalMs).unref()
  socket.on('error', ignore).resume()
  socket.end(`${head.join('\r\n')}\r\n\r\n${body as string}`)
}
