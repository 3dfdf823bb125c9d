import { Canceller } from '../../src/http/cancellation.ts'
import type { CallConnection } from '../../src/http/exchange.ts'
import type { Exchange, RequestBody } from '../../src/index.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

/** What all calls of a socket have in common. */
export type CallHead = Pick<Exchange, 'target' | 'base' | 'headers' | 'ip' | 'host'>

/** The request of one call on a socket. */
export class CallExchange implements Exchange {
  readonly method = 'POST'
  readonly target: string
  readonly base: string | undefined
  readonly headers: Exchange['headers']
  readonly ip: string | undefined
  readonly host: unknown
  readonly body: RequestBody
  readonly connection: CallConnection | undefined
  /** Cancelled when the socket closes. */
  readonly cancellation: Canceller = new Canceller()

  constructor(head: CallHead, text: string | Uint8Array, connection?: CallConnection) {
    this.target = head.target
    this.base = head.base
    this.headers = head.headers
    this.ip = head.ip
    this.host = head.host
    this.body = { state: 'text', text }
    this.connection = connection
  }

  get signal(): AbortSignal {
    return this.cancellation.signal
  }
}

/**
 * Headers that describe the upgrade and not the calls. An idempotency key would name all calls of the socket, which are
 * different requests.
 */
const ofUpgrade = /^(?:connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|idempotency-key|accept)$/

/** The head of all calls on the socket of an upgrade. */
export function callHead(
  request: UpgradeRequest,
  { base, target, ip }: { readonly base: string; readonly target: string; readonly ip: string | undefined },
): CallHead {
  const kept = Object.entries(request.headers).filter(([name]) => !ofUpgrade.test(name))
  const headers = { ...Object.fromEntries(kept), 'content-type': 'application/json', accept: 'text/event-stream' }
  return { target, base, headers, ip, host: request }
}
