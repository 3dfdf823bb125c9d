import { Server as HttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { UpgradeRequest } from './upgrade-request.ts'

/** The part of an HTTP server that is used. */
export interface UpgradingServer {
  /** The listeners of an event, in the order in which they are called. */
  listeners(event: 'upgrade'): unknown[]
  /** Emits an event. */
  emit(event: 'connection' | 'secureConnection', socket: Duplex): boolean
}

export function isServer(emitter: unknown): emitter is UpgradingServer {
  const { emit, listeners } = Object(emitter) as Partial<UpgradingServer>
  return typeof emit === 'function' && typeof listeners === 'function'
}

const upgradeHeaders = new Set(['upgrade', 'http2-settings'])

/**
 * Serves a request as if it did not ask for an upgrade. HTTP allows that, and clients such as Java's ask for HTTP/2 with
 * every request: a server with an `upgrade` listener would otherwise not serve them. The server gets the connection once
 * more, with the request without its upgrade.
 */
export function serveWithoutUpgrade(
  server: UpgradingServer,
  request: UpgradeRequest,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = String(request.rawHeaders[at])
    const value = String(request.rawHeaders[at + 1])
    if (name.toLowerCase() === 'connection') lines.push(`${name}: ${withoutUpgrade(value)}`)
    else if (!upgradeHeaders.has(name.toLowerCase())) lines.push(`${name}: ${value}`)
  }
  if (head.length > 0) socket.unshift(head)
  socket.unshift(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
  server.emit(server instanceof HttpsServer ? 'secureConnection' : 'connection', socket)
}

function withoutUpgrade(connection: string): string {
  const kept = connection.split(',').filter((token) => !/^\s*(?:upgrade|http2-settings)\s*$/i.test(token))
  return kept.length === 0 ? 'keep-alive' : kept.join(',').trim()
}
