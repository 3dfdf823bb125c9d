/**
 * A vendor to test against: a real HTTP server on loopback that answers each request as told, down to the single write
 * and the cut connection. It knows no format; what it sends is up to the test.
 */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as the vendor got it. */
export interface VendorRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown
  /** Aborted when the gateway ends the connection before the answer was complete. */
  readonly signal: AbortSignal
}

export type VendorReply = (request: VendorRequest, response: ServerResponse) => void | Promise<void>

export interface ScriptedVendor {
  /** Such as `http://127.0.0.1:40123/v1`. */
  readonly baseURL: string
  /** Every request so far, oldest first. */
  readonly requests: VendorRequest[]
  /** What answers from now on. */
  reply: VendorReply
  close(): Promise<void>
}

export async function scriptedVendor(reply: VendorReply): Promise<ScriptedVendor> {
  const requests: VendorRequest[] = []
  const vendor = { requests, reply }
  // Idle connections stay open: on a busy machine, a request may meet the end of one.
  const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, response) => {
    const left = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) left.abort()
    })
    response.on('error', () => undefined)
    const pieces: Buffer[] = []
    incoming.on('error', () => undefined)
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.on('end', () => {
      const body = Buffer.concat(pieces)
      const { method = '', url = '', headers } = incoming
      const request: VendorRequest = { method, url, headers, body, json: parse(body), signal: left.signal }
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
