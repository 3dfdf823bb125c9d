import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from '../../src/http/connections.ts'
import { refuse } from '../../src/http/answers.ts'
import { isLarge } from '../../src/http/json-body.ts'
import { GatewayError, type Gateway, type Reply } from '../../src/index.ts'
import type { SocketMemory } from '../../src/responses/conversations.ts'
import { isStream } from '../hosts/exchange.ts'
import { CallExchange, type CallHead } from './call-exchange.ts'
import { clientEvent, laneOf } from './client-event.ts'
import { errorMessage } from './error-message.ts'
import { Incoming } from './incoming.ts'
import { Pongs } from './pongs.ts'
import { SocketSink } from './socket-sink.ts'
import type { Member, Sockets } from './sockets.ts'
import type { WebSocketLike } from './web-socket.ts'

/** Close codes of RFC 6455. */
const goingAway = 1001
const policyViolation = 1008

/** Messages of one socket that may wait for the call in progress. */
const mostWaiting = 16

export interface SocketParts {
  readonly ws: WebSocketLike
  readonly socket: Duplex
  readonly caller: string
  readonly head: CallHead
  readonly gateway: Gateway
  readonly sockets: Sockets
  /** Milliseconds. */
  readonly idleMs: number
}

/** A WebSocket of a client, on which one response follows another. */
export class ResponsesSocket implements Connection, Member {
  readonly socket: Duplex
  readonly caller: string
  idleSince: number = performance.now()
  readonly #parts: SocketParts
  readonly #memory: SocketMemory
  readonly #incoming: Incoming
  readonly #pongs: Pongs
  readonly #waiting: Buffer[] = []
  #isRunning = false
  #call: CallExchange | undefined
  #isRetired = false
  /** Whether the client has answered the last ping. */
  #isAlive = true

  constructor(parts: SocketParts) {
    const { ws, socket, caller, sockets } = parts
    this.#parts = parts
    this.socket = socket
    this.caller = caller
    this.#memory = sockets.conversations.open()
    this.#incoming = new Incoming(socket, sockets, () => ws.terminate())
    this.#pongs = new Pongs(ws, socket)
  }

  /** Serves the client until the socket closes. */
  open(): void {
    const { ws, sockets, gateway } = this.#parts
    // An invalid or too long frame; `ws` closes the socket.
    ws.on('error', ignore)
    ws.on('message', (data, isBinary) => this.#message(data, isBinary))
    ws.on('ping', (data) => {
      this.#incoming.control(data)
      this.#pongs.ping(data)
    })
    ws.on('pong', (data) => {
      this.#incoming.control(data)
      this.#isAlive = true
    })
    ws.on('close', () => this.#closed())
    sockets.join(this)
    gateway.connections.add(this)
  }

  get isBusy(): boolean {
    return this.#isRunning
  }

  retire(): void {
    this.#isRetired = true
    if (!this.isBusy) this.#parts.ws.close(goingAway, 'the server is restarting')
  }

  replace(): void {
    this.#parts.ws.close(goingAway, 'another connection of this key has taken its place')
  }

  check(now: number): void {
    const { ws, gateway, idleMs } = this.#parts
    this.#pongs.reset()
    if (this.#incoming.isStuck(now, gateway.sizes.bodyIdleMs)) return ws.terminate()
    // What is written during a call shows whether the client is there.
    if (this.isBusy) return
    if (now - this.idleSince >= idleMs) return ws.close(goingAway, 'idle')
    if (!this.#isAlive) return ws.terminate()
    this.#isAlive = false
    ws.ping(undefined, undefined, ignore)
  }

  #message(data: Buffer, isBinary: boolean): void {
    this.#incoming.message()
    if (this.#isRetired && !this.isBusy) return
    if (isBinary) return this.#refuse(new GatewayError('invalid_request_error', { message: binary }), undefined)
    if (!this.#isRunning) return void this.#run(data)
    if (this.#waiting.length < mostWaiting && this.#parts.sockets.keep(data.length))
      return void this.#waiting.push(data)
    if (this.#waiting.length < mostWaiting) this.#parts.sockets.drop(data.length)
    this.#refuse(new GatewayError('rate_limit_exceeded', { message: crowded }), laneOf(data, this.#parts.gateway.sizes))
  }

  /** Runs one call, and then those that wait. Never rejects. */
  async #run(message: Buffer): Promise<void> {
    this.#isRunning = true
    const { gateway, head, ws } = this.#parts
    try {
      if (isLarge(message)) await nextTurn()
      const { request, prewarm, lane } = clientEvent(message, gateway.sizes)
      if (isLarge(message)) await nextTurn()
      if (request === undefined || ws.readyState !== ws.OPEN) return this.#next()
      this.#call = new CallExchange(head, request, { prewarm, memory: this.#memory })
      this.#deliver(await gateway.handle(this.#call), lane)
    } catch (error) {
      this.#refuse(GatewayError.from(error), laneOf(message, gateway.sizes))
      this.#next()
    }
  }

  #deliver({ status, headers, body }: Reply, lane: string | undefined): void {
    const { ws, socket } = this.#parts
    const sink = new SocketSink(ws, socket, lane, () => this.#next())
    if (isStream(body)) return body.start(sink)
    if (status === 200) sink.write(body)
    else if (!sink.closed) ws.send(errorMessage(status, headers, body, lane), asText, ignore)
    // The key is no longer valid.
    if (status === 401) ws.close(policyViolation, 'invalid API key')
    sink.end()
  }

  #refuse(error: GatewayError, lane: string | undefined): void {
    const { ws } = this.#parts
    if (ws.readyState !== ws.OPEN) return
    const { status, headers, body } = refuse(error)
    ws.send(errorMessage(status, headers, body as string, lane), asText, ignore)
  }

  /** The call has ended. */
  #next(): void {
    this.#call = undefined
    this.#isRunning = false
    this.idleSince = performance.now()
    const { ws, sockets } = this.#parts
    if (ws.readyState !== ws.OPEN) this.#dropWaiting()
    const message = this.#waiting.shift()
    if (message !== undefined) {
      sockets.drop(message.length)
      void this.#run(message)
    } else if (this.#isRetired) this.retire()
  }

  #dropWaiting(): void {
    for (const { length } of this.#waiting.splice(0)) this.#parts.sockets.drop(length)
  }

  #closed(): void {
    const { sockets, gateway } = this.#parts
    this.#dropWaiting()
    this.#incoming.close()
    this.#memory.close()
    this.#call?.cancellation.abort(undefined)
    sockets.leave(this)
    sockets.release()
    gateway.connections.remove(this)
  }
}

const asText = { binary: false }
const binary = 'Send events as text messages, not as binary ones.'
const crowded = 'Too many requests are waiting on this connection. Wait for the end of a response, or open another one.'

/** Failed writes are reported by the socket's `close`. */
function ignore(): void {}
