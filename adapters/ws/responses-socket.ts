import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from '../../src/http/connections.ts'
import { refuse } from '../../src/http/answers.ts'
import { GatewayError, type Gateway, type Reply } from '../../src/index.ts'
import type { SocketMemory } from '../../src/responses/conversations.ts'
import { isStream } from '../hosts/exchange.ts'
import { CallExchange, type CallHead } from './call-exchange.ts'
import { clientRequest } from './client-event.ts'
import { Drain } from './drain.ts'
import { Inbox, type Message } from './inbox.ts'
import { IncompleteMessages } from './incomplete-messages.ts'
import { Lanes } from './lanes.ts'
import { Notices } from './notices.ts'
import { ageOf, type Settings } from './options.ts'
import { Pongs } from './pongs.ts'
import { SocketSink } from './socket-sink.ts'
import type { Member, Sockets } from './sockets.ts'
import { ignore } from '../../src/http/ignore.ts'
import type { WebSocketLike } from './web-socket.ts'

/** Close codes of RFC 6455. */
const goingAway = 1001
const policyViolation = 1008

export interface SocketParts {
  readonly ws: WebSocketLike
  readonly socket: Duplex
  readonly caller: string
  readonly head: CallHead
  readonly gateway: Gateway
  readonly sockets: Sockets
  readonly settings: Pick<Settings, 'idleMs' | 'maxAgeMs' | 'callsPerSocket'>
}

/** A WebSocket of a client: responses with different `stream_id`s side by side, all others one after the other. */
export class ResponsesSocket implements Connection, Member {
  readonly socket: Duplex
  readonly caller: string
  idleSince: number = performance.now()
  readonly #parts: SocketParts
  readonly #memory: SocketMemory
  readonly #incomplete: IncompleteMessages
  readonly #pongs: Pongs
  readonly #drain: Drain
  readonly #notices: Notices
  readonly #lanes: Lanes<Message>
  readonly #calls = new Set<CallExchange>()
  readonly #inbox: Inbox
  readonly #tooOldAt: number
  /** Why the socket is closed once no call is in progress. */
  #leaving: string | undefined
  /** Whether the client has answered the last ping. */
  #isAlive = true

  constructor(parts: SocketParts) {
    const { ws, socket, caller, sockets, settings } = parts
    this.#parts = parts
    this.socket = socket
    this.#tooOldAt = performance.now() + ageOf(settings.maxAgeMs)
    this.caller = caller
    this.#memory = sockets.conversations.open()
    this.#incomplete = new IncompleteMessages(socket, sockets, () => ws.terminate())
    this.#pongs = new Pongs(ws, socket)
    this.#drain = new Drain(socket, parts.gateway.sizes.bodyIdleMs)
    this.#notices = new Notices(ws, this.#drain)
    this.#lanes = new Lanes({ most: settings.callsPerSocket, run: (message, lane) => void this.#run(message, lane) })
    this.#inbox = new Inbox({
      sizes: parts.gateway.sizes,
      sockets,
      lanes: this.#lanes,
      isOpen: () => ws.readyState === ws.OPEN,
      isLeaving: () => this.#leaving !== undefined,
      answer: (message) => this.#notices.send(message),
      refuse: (error, lane) => this.#refuse(error, lane),
      settled: () => this.#settled(),
    })
  }

  /** Serves the client until the socket closes. */
  open(): void {
    const { ws, sockets, gateway } = this.#parts
    // An invalid or too long frame; `ws` closes the socket.
    ws.on('error', ignore)
    ws.on('message', (data, isBinary) => this.#message(data, isBinary))
    ws.on('ping', (data) => {
      this.#incomplete.control(data)
      this.#pongs.ping(data)
    })
    ws.on('pong', (data) => {
      this.#incomplete.control(data)
      this.#isAlive = true
    })
    ws.on('close', () => this.#closed())
    sockets.join(this)
    gateway.connections.add(this)
  }

  get isBusy(): boolean {
    return this.#inbox.isReading || this.#lanes.isBusy
  }

  retire(): void {
    this.#leave('the server is restarting')
  }

  replace(): void {
    this.#parts.ws.close(goingAway, 'another connection of this key has taken its place')
  }

  check(now: number): void {
    const { ws, gateway, settings } = this.#parts
    this.#pongs.reset()
    if (this.#incomplete.isStuck(now, gateway.sizes.bodyIdleMs)) return ws.terminate()
    if (this.#leaving === undefined && now >= this.#tooOldAt) return this.#leave('too old')
    // What is written during a call shows whether the client is there.
    if (this.isBusy) return
    if (now - this.idleSince >= settings.idleMs) return ws.close(goingAway, 'idle')
    if (!this.#isAlive) return ws.terminate()
    this.#isAlive = false
    ws.ping(undefined, undefined, ignore)
  }

  #message(data: Buffer, isBinary: boolean): void {
    this.#incomplete.message()
    if (this.#leaving !== undefined && !this.isBusy) return
    if (isBinary) return this.#refuse(new GatewayError('invalid_request_error', { message: binary }), undefined)
    this.#inbox.receive(data)
  }

  /** Runs one call. Never rejects. */
  async #run(message: Message, lane: string | undefined): Promise<void> {
    const { gateway, head, ws } = this.#parts
    this.#inbox.taken(message)
    const { body } = message
    let call: CallExchange | undefined
    let isOver = false
    const over = () => {
      if (isOver) return
      isOver = true
      if (call !== undefined) this.#calls.delete(call)
      this.#lanes.ended(lane)
      this.#settled()
    }
    try {
      if (body.isLarge) await nextTurn()
      const { request, prewarm } = clientRequest(body)
      if (body.isLarge) await nextTurn()
      if (ws.readyState !== ws.OPEN) return over()
      call = new CallExchange(head, request, { prewarm, memory: this.#memory.of(lane) })
      this.#calls.add(call)
      await this.#deliver(await gateway.handle(call), lane, over)
    } catch (error) {
      this.#refuse(GatewayError.from(error), lane)
      await this.#drain.waitBriefly()
      over()
    }
  }

  /** Never rejects. */
  async #deliver({ status, headers, body }: Reply, lane: string | undefined, ended: () => void): Promise<void> {
    const { ws, socket } = this.#parts
    const requestId = headers['x-request-id']
    const sink = new SocketSink({ ws, socket, drain: this.#drain, lane, requestId, ended })
    if (isStream(body)) return body.start(sink)
    if (status === 200) sink.write(body)
    else this.#notices.send(errorMessage(status, headers, body, lane))
    // The key is no longer valid.
    if (status === 401) ws.close(policyViolation, 'invalid API key')
    await this.#drain.waitBriefly()
    sink.end()
  }

  #refuse(error: GatewayError, lane: string | undefined): void {
    const { status, headers, body } = refuse(error)
    this.#notices.send(errorMessage(status, headers, body as string, lane))
  }

  /** A call has ended, or nothing was to be done for a message. */
  #settled(): void {
    const { ws } = this.#parts
    if (ws.readyState !== ws.OPEN) this.#inbox.clear()
    if (this.isBusy) return
    this.idleSince = performance.now()
    if (this.#leaving !== undefined) this.#leave(this.#leaving)
  }

  /** Closes the socket, once no call is in progress. */
  #leave(reason: string): void {
    this.#leaving = reason
    if (!this.isBusy) this.#parts.ws.close(goingAway, reason)
  }

  #closed(): void {
    const { sockets, gateway } = this.#parts
    this.#inbox.clear()
    this.#incomplete.close()
    this.#memory.close()
    for (const { cancellation } of this.#calls) cancellation.abort(undefined)
    sockets.leave(this)
    sockets.release()
    gateway.connections.remove(this)
  }
}

const binary = 'Send events as text messages, not as binary ones.'

/** Response headers that tell a client when and whether to try again. */
const advice = /^(?:retry-after|x-)/

/** The message for a request that was refused, in OpenAI's form. `body`: the gateway's reply, `{"error": …}`. */
function errorMessage(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  lane: string | undefined,
): string {
  const { error } = JSON.parse(Buffer.from(body).toString('utf8')) as { error: unknown }
  const given = Object.fromEntries(Object.entries(headers).filter(([name]) => advice.test(name)))
  return JSON.stringify({
    type: 'error',
    status,
    ...(lane !== undefined && { stream_id: lane }),
    error,
    headers: given,
  })
}
