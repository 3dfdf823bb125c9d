import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as the vendor received it. */
export interface VendorRequest {
  /** The HTTP method. */
  readonly method: string
  /** The request target, such as `/v1/chat/completions`. */
  readonly url: string
  /** The headers, by lower-case name. */
  readonly headers: IncomingHttpHeaders
  /** The whole body. */
  readonly body: Buffer
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown
  /** Aborted if the connection closes before the response is complete. */
  readonly signal: AbortSignal
}

/** Writes the response to one request. If it throws or rejects, the connection is destroyed. */
export type VendorReply = (request: VendorRequest, response: ServerResponse) => void | Promise<void>

/** A running test vendor; see `scriptedVendor`. */
export interface ScriptedVendor {
  /** The base URL for providers, such as `http://127.0.0.1:40123/v1`. */
  readonly baseURL: string
  /** All requests so far, oldest first. */
  readonly requests: VendorRequest[]
  /** The current handler. Assign another one to change how later requests are answered. */
  reply: VendorReply
  /** Closes the server and all its connections. */
  close(): Promise<void>
}

/**
 * Starts a vendor to test against: an HTTP server on a free loopback port, which passes each request to `reply` once its
 * body has arrived. It knows no API format: `reply` decides each write and may destroy the connection. `body` and `stream` of a
 * `Dialect` write what a vendor would say.
 */
export async function scriptedVendor(reply: VendorReply): Promise<ScriptedVendor> {
  const requests: VendorRequest[] = []
  const vendor = { requests, reply }
  // On a busy machine, a short keep-alive closes connections just as the client reuses them.
  const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, response) => {
    const closed = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) closed.abort()
    })
    response.on('error', () => undefined)
    const pieces: Buffer[] = []
    incoming.on('error', () => undefined)
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.on('end', () => {
      const body = Buffer.concat(pieces)
      const { method = '', url = '', headers } = incoming
      const request: VendorRequest = { method, url, headers, body, json: parse(body), signal: closed.signal }
      requests.push(request)
      void Promise.resolve(vendor.reply(request, response)).catch(() => response.destroy())
    })
  })
  await listen(server)
  const { port } = server.address() as AddressInfo
  return Object.assign(vendor, {
    baseURL: `http://127.0.0.1:${port}/v1`,
    close: () => stop(server),
  })
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
