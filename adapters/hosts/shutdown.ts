/**
 * The end of a server during a deploy. Clients with kept connections learn with an answer, by `connection: close`, that
 * they must open a new one; a connection that was just closed under them is a failed request that many do not repeat.
 */
import { Server as HttpServer } from 'node:http'
import { Server as HttpsServer } from 'node:https'
import type { Server, Socket } from 'node:net'
import type { Gateway } from '../../src/index.ts'
import { checkKnown, delay } from '../../src/validation/known-options.ts'

export interface ShutdownOptions {
  /**
   * Milliseconds for which requests under way may go on. Then streams of the gateway end with an error event, and all
   * other connections are closed. Default 10,000.
   */
  readonly graceMs?: number
  /**
   * Milliseconds for which new connections are still accepted, before the grace begins: for load balancers that take a
   * while to notice. Default 0.
   */
  readonly acceptMs?: number
  /**
   * Milliseconds after which a connection that carries no request is closed, and so are upgraded sockets. Clients that
   * send something until then learn by its answer that the connection ends, and those that heed the "keep-alive" header
   * of Node's servers, which says five seconds, have let go of it. Default 6,000.
   */
  readonly idleMs?: number
}

/** The part of `http.ServerResponse` that is used. */
interface Answering {
  readonly headersSent: boolean
  shouldKeepAlive: boolean
  setHeader(name: string, value: string): unknown
  once(event: 'close', listener: () => void): unknown
}

interface Asking {
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
  /** What is being answered on it. Nothing on an upgraded socket. */
  readonly answers: Set<Answering>
  /** Ticks since it carried a request. */
  quiet: number
}

/** Milliseconds for the last bytes of answers to leave, and for clients to close their side. */
const lastBytesMs = 500

/** A connection that was quiet for so many ticks is closed; together they make `idleMs`. */
const ticks = 4

/**
 * Watches the connections of a server from now on, and gives the function that ends it: call it at `SIGTERM`. From then
 * on each answer, also of the host's own routes, says `connection: close`; new connections are not accepted, those without
 * a request are closed after `idleMs`, requests under way come to their end, and the gateway is closed after the last of
 * them. Resolves when nothing is left, at the latest a little after the grace and the time that stores take to close; it
 * never rejects, and a second call gives the same promise. Call this where the server is made: connections that are
 * older cannot be watched. Throws a `TypeError` for anything but a server and a gateway.
 */
export function prepareShutdown(
  server: Server,
  gateway: Pick<Gateway, 'close'>,
  options: ShutdownOptions = {},
): () => Promise<void> {
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
  readonly #gateway: Pick<Gateway, 'close'>
  readonly #options: Required<ShutdownOptions>
  readonly #connections = new Map<Socket, Connection>()
  readonly #sessions = new Set<Session>()
  #running: Promise<void> | undefined
  #empty: (() => void) | undefined

  constructor(server: Server, gateway: Pick<Gateway, 'close'>, options: Required<ShutdownOptions>) {
    this.#server = server
    this.#gateway = gateway
    this.#options = options
    // Below TLS lies another socket, and sessions of HTTP/2 look after theirs.
    if (server instanceof HttpsServer) server.on('secureConnection', (socket: Socket) => this.#connection(socket))
    else if (server instanceof HttpServer) server.on('connection', (socket: Socket) => this.#connection(socket))
    server.on('session', (session: Session) => this.#session(session))
    // In front of the listener that answers.
    server.prependListener('request', (request: Asking, answer: Answering) => this.#request(request, answer))
  }

  run(): Promise<void> {
    return (this.#running ??= this.#run())
  }

  async #run(): Promise<void> {
    const { graceMs, acceptMs, idleMs } = this.#options
    for (const { answers } of this.#connections.values()) for (const answer of answers) announce(answer)
    await pause(acceptMs)
    // Connections that wait to be accepted are, before the listener goes.
    await turn()
    this.#stopListening()
    for (const session of this.#sessions) session.close()
    const sweeping = setInterval(() => void this.#sweep(), Math.max(1, idleMs / ticks))
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
    const connection: Connection = { answers: new Set(), quiet: 0 }
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#tell()
    })
    return connection
  }

  #session(session: Session): void {
    this.#sessions.add(session)
    session.once('close', () => {
      this.#sessions.delete(session)
      this.#tell()
    })
    if (this.#running !== undefined) session.close()
  }

  #request({ httpVersionMajor, socket }: Asking, answer: Answering): void {
    if (httpVersionMajor !== 1) return
    const connection = this.#connections.get(socket) ?? this.#connection(socket)
    connection.answers.add(answer)
    answer.once('close', () => {
      connection.answers.delete(answer)
      connection.quiet = 0
    })
    if (this.#running !== undefined) announce(answer)
  }

  /** Closes the listener alone: Node would close idle connections with it, on which a request may just have been sent. */
  #stopListening(): void {
    const server = this.#server
    const own = Object.getOwnPropertyDescriptor(server, 'closeIdleConnections')
    if (server instanceof HttpServer || server instanceof HttpsServer) server.closeIdleConnections = () => undefined
    server.close(() => undefined)
    if (own === undefined) delete server.closeIdleConnections
    else Object.defineProperty(server, 'closeIdleConnections', own)
  }

  async #sweep(): Promise<void> {
    const idle = [...this.#connections].filter(([, each]) => each.answers.size === 0 && ++each.quiet >= ticks)
    if (idle.length === 0) return
    // What has come in meanwhile is read first.
    await turn()
    for (const [socket, connection] of idle) {
      if (connection.answers.size > 0 || connection.quiet < ticks) continue
      connection.quiet = -Infinity
      // A client that does not close its side in turn is not waited for.
      setTimeout(() => socket.destroy(), lastBytesMs).unref()
      socket.end()
    }
  }

  /** Resolves when no connection is left, or after `ms`. */
  #emptied(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#empty = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#tell()
    })
  }

  #tell(): void {
    if (this.#connections.size === 0 && this.#sessions.size === 0) this.#empty?.()
  }
}

function announce(answer: Answering): void {
  if (answer.headersSent) return
  // The header tells the client; a host that takes it off, as Koa does with errors, closes the connection all the same.
  answer.shouldKeepAlive = false
  answer.setHeader('connection', 'close')
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

/** Resolves after Node has taken in all that has arrived. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setImmediate(resolve), 1))
}
