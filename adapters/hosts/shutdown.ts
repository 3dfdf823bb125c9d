import { Server as HttpsServer } from 'node:https'
import type { Server, Socket } from 'node:net'
import type { Gateway } from '../../src/index.ts'
import { checkKnown, delay } from '../../src/records/known-options.ts'

// Not by `import`, which reads all properties of the module: its `WebSocket` loads Node's own undici, in 30 ms.
const { Server: HttpServer } = process.getBuiltinModule('node:http')

/** Options of `prepareShutdown`. */
export interface ShutdownOptions {
  /**
   * Milliseconds for which running requests may continue. Then the gateway's streams end with an error event, and all
   * other connections are closed. Default 10,000.
   */
  readonly graceMs?: number
  /**
   * Milliseconds for which new connections are still accepted before `graceMs` starts, for load balancers that take time
   * to notice the shutdown. Default 0.
   */
  readonly acceptMs?: number
  /**
   * Milliseconds after which idle connections and the host's own upgraded sockets are closed. A client that sends a
   * request before then gets `connection: close` with its response. The default is longer than the five seconds that Node announces in its
   * `keep-alive` header, so clients that respect the header have already closed the connection. Default 6,000.
   */
  readonly idleMs?: number
}

/** What is closed: a gateway, or what wraps one. */
type Closable = Pick<Gateway, 'close'> & Partial<Pick<Gateway, 'connections' | 'drain'>>

/** The part of `http.ServerResponse` that is used. */
interface Response {
  readonly headersSent: boolean
  shouldKeepAlive: boolean
  setHeader(name: string, value: string): unknown
  once(event: 'close', listener: () => void): unknown
}

interface Request {
  readonly httpVersionMajor: number
  readonly socket: Socket
}

/** The part of `http2.ServerHttp2Session` that is used. */
interface Session {
  close(): void
  destroy(): void
  once(event: 'close', listener: () => void): unknown
}

/** A connection of HTTP/1. */
interface Connection {
  /** Responses in progress. Empty on an upgraded socket. */
  readonly responses: Set<Response>
  /** Sweeps since the last request ended. */
  idleSweeps: number
}

/** Milliseconds for the last bytes to be sent and for clients to close their side. */
const lastBytesMs = 500

/** Idle connections are closed after this many sweeps, which together take `idleMs`. */
const sweepsUntilIdle = 4

/**
 * Prepares a graceful shutdown: tracks the server's connections from now on and returns the function to call at `SIGTERM`.
 * Call it where the server is created, because it cannot track connections that are already open. Throws a `TypeError` for
 * invalid arguments or options.
 *
 * The returned function stops accepting connections, lets running requests finish, also those on WebSockets of the gateway,
 * closes idle connections after `idleMs`,
 * and then closes the gateway. Until then every response, of the host's own routes too, carries `connection: close`: clients
 * thus open a new connection, instead of sending a request on one that is about to close. Resolves when all connections
 * are closed, at the latest shortly after `graceMs` and the time the stores take to close. Never rejects; a second call
 * returns the same promise.
 *
 * @example
 * ```ts
 * const server = app.listen(3000)
 * const shutdown = prepareShutdown(server, gateway)
 * process.once('SIGTERM', shutdown)
 * ```
 */
export function prepareShutdown(server: Server, gateway: Closable, options: ShutdownOptions = {}): () => Promise<void> {
  const form = 'expected prepareShutdown(server, gateway), where server is what listen() or createServer() returned'
  if (typeof (server as Partial<Server> | null)?.close !== 'function') throw new TypeError(form)
  if (typeof (gateway as Partial<Gateway> | null)?.close !== 'function') throw new TypeError(form)
  checkKnown('prepareShutdown', options, { graceMs: delay, acceptMs: delay, idleMs: delay })
  const { graceMs = 10_000, acceptMs = 0, idleMs = 6_000 } = options
  const shutdown = new Shutdown(server, gateway, { graceMs, acceptMs, idleMs })
  return () => shutdown.run()
}

class Shutdown {
  readonly #server: Server & { closeIdleConnections?: () => void }
  readonly #gateway: Closable
  readonly #options: Required<ShutdownOptions>
  readonly #connections = new Map<Socket, Connection>()
  readonly #sessions = new Set<Session>()
  #running: Promise<void> | undefined
  #empty: (() => void) | undefined

  constructor(server: Server, gateway: Closable, options: Required<ShutdownOptions>) {
    this.#server = server
    this.#gateway = gateway
    this.#options = options
    // For TLS, requests refer to the TLS socket, not to the TCP one below. HTTP/2 sessions close their own sockets.
    if (server instanceof HttpsServer) server.on('secureConnection', (socket: Socket) => this.#connection(socket))
    else if (server instanceof HttpServer) server.on('connection', (socket: Socket) => this.#connection(socket))
    server.on('session', (session: Session) => this.#session(session))
    // Before the listener that responds.
    server.prependListener('request', (request: Request, response: Response) => this.#request(request, response))
  }

  run(): Promise<void> {
    return (this.#running ??= this.#run())
  }

  async #run(): Promise<void> {
    const { graceMs, acceptMs, idleMs } = this.#options
    this.#gateway.drain?.()
    for (const { responses } of this.#connections.values()) for (const response of responses) announce(response)
    await pause(acceptMs)
    // Accepts the connections that are already waiting, before the listener closes.
    await turn()
    this.#stopListening()
    this.#gateway.connections?.retire()
    for (const session of this.#sessions) session.close()
    const sweeping = setInterval(() => void this.#sweep(), Math.max(1, idleMs / sweepsUntilIdle))
    sweeping.unref()
    const startedAt = performance.now()
    await this.#emptied(graceMs)
    await this.#gateway.close({ graceMs: Math.max(0, graceMs - (performance.now() - startedAt)) })
    await this.#emptied(lastBytesMs)
    clearInterval(sweeping)
    for (const socket of this.#connections.keys()) socket.destroy()
    for (const session of this.#sessions) session.destroy()
  }

  #connection(socket: Socket): Connection {
    const connection: Connection = { responses: new Set(), idleSweeps: 0 }
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#checkEmpty()
    })
    return connection
  }

  #session(session: Session): void {
    this.#sessions.add(session)
    session.once('close', () => {
      this.#sessions.delete(session)
      this.#checkEmpty()
    })
    if (this.#running !== undefined) session.close()
  }

  #request({ httpVersionMajor, socket }: Request, response: Response): void {
    if (httpVersionMajor !== 1) return
    const connection = this.#connections.get(socket) ?? this.#connection(socket)
    connection.responses.add(response)
    response.once('close', () => {
      connection.responses.delete(response)
      connection.idleSweeps = 0
    })
    if (this.#running !== undefined) announce(response)
  }

  /** Closes only the listener: Node's `close` would also close idle connections, on which a request may be arriving. */
  #stopListening(): void {
    const server = this.#server
    const own = Object.getOwnPropertyDescriptor(server, 'closeIdleConnections')
    if (server instanceof HttpServer || server instanceof HttpsServer) server.closeIdleConnections = () => undefined
    server.close(() => undefined)
    if (own === undefined) delete server.closeIdleConnections
    else Object.defineProperty(server, 'closeIdleConnections', own)
  }

  async #sweep(): Promise<void> {
    const idle = [...this.#connections].filter(
      ([socket, each]) =>
        each.responses.size === 0 &&
        this.#gateway.connections?.isBusy(socket) !== true &&
        ++each.idleSweeps >= sweepsUntilIdle,
    )
    if (idle.length === 0) return
    // First reads the requests that have arrived meanwhile.
    await turn()
    for (const [socket, connection] of idle) {
      if (connection.responses.size > 0 || connection.idleSweeps < sweepsUntilIdle) continue
      connection.idleSweeps = -Infinity
      // Do not wait for clients that leave their side open.
      setTimeout(() => socket.destroy(), lastBytesMs).unref()
      socket.end()
    }
  }

  /** Resolves when no connection is open, or after `ms`. */
  #emptied(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#empty = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#checkEmpty()
    })
  }

  #checkEmpty(): void {
    if (this.#connections.size === 0 && this.#sessions.size === 0) this.#empty?.()
  }
}

function announce(response: Response): void {
  if (response.headersSent) return
  // The flag closes the connection even if the host removes the header, as Koa does for errors.
  response.shouldKeepAlive = false
  response.setHeader('connection', 'close')
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

/** Resolves after Node has read what has already arrived. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setImmediate(resolve), 1))
}
