import { callback, count, timer, texts, type Known } from '../../src/records/known-options.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

/** Options of `upgrades`. */
export interface UpgradeOptions {
  /**
   * Origins of other sites, such as `https://app.example.com`, whose pages may open WebSockets. Browsers send cookies and
   * client certificates with a WebSocket of any page, so those of other origins are refused with 403, unless the request
   * carries an API key and no cookie. Default: none, only the origin of the server's own host name.
   */
  readonly origins?: readonly string[]
  /**
   * The client's IP address, for hosts behind a proxy: the settings of Express and Koa do not apply to upgrades. Default:
   * the address of the connection.
   */
  readonly address?: (request: UpgradeRequest) => string | undefined
  /** Milliseconds without a call after which a socket is closed. Default 600,000. */
  readonly idleMs?: number
  /**
   * Milliseconds after which a socket takes no further calls, less up to a tenth, so that those that were opened together are
   * not closed together. It is closed when its calls have ended. Default 3,600,000, as at OpenAI.
   */
  readonly maxAgeMs?: number
  /** Milliseconds between pings; a client without a call that has not answered one by the next is gone. Default 30,000. */
  readonly pingMs?: number
  /** Open sockets of this process. Further ones are refused with 426. Default 10,000. */
  readonly sockets?: number
  /**
   * Open sockets of one key, or of one account without a key. A further one closes the one that is idle for longest, and is
   * refused with 426 if all have a call in progress. Default 100.
   */
  readonly socketsPerCaller?: number
  /** Calls of one socket at the same time, each with another `stream_id`. Further ones wait. Default 16, as at OpenAI. */
  readonly callsPerSocket?: number
  /**
   * Bytes of conversations with `store: false` that are remembered, of all sockets together: beyond it, the account with the
   * most forgets its oldest. Default 256 MiB.
   */
  readonly rememberedBytes?: number
  /** Bytes of messages that are not complete or wait for their turn, of all sockets together. Default 256 MiB. */
  readonly waitingBytes?: number
}

/** The options with their defaults. */
export type Settings = Required<UpgradeOptions>

export const optionRules: Known<UpgradeOptions> = {
  origins: texts,
  address: callback,
  idleMs: timer,
  maxAgeMs: timer,
  pingMs: timer,
  sockets: count,
  socketsPerCaller: count,
  callsPerSocket: count,
  rememberedBytes: count,
  waitingBytes: count,
}

const mebibyte = 1024 * 1024

export function withDefaults(options: UpgradeOptions): Settings {
  return {
    origins: options.origins ?? [],
    address: options.address ?? (({ socket }) => socket.remoteAddress),
    idleMs: options.idleMs ?? 600_000,
    maxAgeMs: options.maxAgeMs ?? 3_600_000,
    pingMs: options.pingMs ?? 30_000,
    sockets: options.sockets ?? 10_000,
    socketsPerCaller: options.socketsPerCaller ?? 100,
    callsPerSocket: options.callsPerSocket ?? 16,
    rememberedBytes: options.rememberedBytes ?? 256 * mebibyte,
    waitingBytes: options.waitingBytes ?? 256 * mebibyte,
  }
}

/** The age at which one socket is too old. */
export function ageOf(maxAgeMs: number, random: () => number = Math.random): number {
  return maxAgeMs * (1 - random() / 10)
}
