/** `modelhatch/ws`: responses over WebSockets, as Codex and the `openai` package use them. Needs the package `ws`. */
import type { Gateway } from '../../src/index.ts'
import { checkKnown } from '../../src/records/known-options.ts'
import { requireGateway } from '../hosts/exchange.ts'
import { mountPath } from '../hosts/mount-path.ts'
import { optionRules, withDefaults, type UpgradeOptions } from './options.ts'
import type { UpgradeRequest } from './upgrade-request.ts'
import { Upgrader, type UpgradeListener } from './upgrader.ts'
import { isServer, serveWithoutUpgrade, type UpgradingServer } from './without-upgrade.ts'

export type { UpgradeOptions } from './options.ts'
export type { UpgradeRequest } from './upgrade-request.ts'
export type { UpgradeListener } from './upgrader.ts'

/**
 * Makes a listener for the `upgrade` event of an HTTP/1.1 server, which serves `GET /v1/responses` below `path` as a
 * WebSocket. `path` is the one that the gateway is mounted at, with or without `/v1` at its end, and empty for the root.
 * Works with the server of Express, Koa or a plain `http.createServer`. Throws a `TypeError` for invalid arguments or
 * options.
 *
 * Each `response.create` is a call of its own: its key is checked again, and limits, prices and receipts apply as for a
 * POST. Upgrades of other paths are left to the server's other listeners; if there are none but those of gateways, they are served
 * as requests without an upgrade, as by a server without a listener.
 *
 * @example
 * ```ts
 * const server = app.listen(3000)
 * server.on('upgrade', upgrades('/ai', gateway))
 * ```
 */
export function upgrades(path: string, gateway: Gateway, options: UpgradeOptions = {}): UpgradeListener {
  const form = "server.on('upgrade', upgrades('/ai', gateway))"
  if (typeof path !== 'string') throw new TypeError(`upgrades: expected ${form}`)
  requireGateway(gateway, form)
  checkKnown('upgrades', options, optionRules)
  const upgrader = new Upgrader(mountPath(path, 'path'), gateway, withDefaults(options))
  const listener: UpgradeListener = function upgrade(request, socket, head) {
    if (upgrader.upgrade(this, request, socket, head)) taken.add(request)
    else if (isLeft(this, listener, request)) serveWithoutUpgrade(this, request, socket, head)
  }
  listeners.add(listener)
  return listener
}

/** Those of all gateways, and the requests that one of them has taken. */
const [listeners, taken] = [new WeakSet<UpgradeListener>(), new WeakSet<UpgradeRequest>()]

/** Whether no listener takes a request: all are those of gateways, and the given one is the last. */
function isLeft(server: unknown, listener: UpgradeListener, request: UpgradeRequest): server is UpgradingServer {
  if (!isServer(server) || taken.has(request)) return false
  const all = server.listeners('upgrade') as UpgradeListener[]
  return all.at(-1) === listener && all.every((each) => listeners.has(each))
}
