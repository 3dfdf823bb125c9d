/** `modelhatch/node`: a gateway on a plain `http.createServer`, and the shutdown of any server that serves one. */
import type { Mountable } from '../../src/index.ts'
import { answer, requireGateway, type NodeRequest, type NodeResponse } from './exchange.ts'

export type { NodeRequest, NodeResponse } from './exchange.ts'
export { prepareShutdown, type ShutdownOptions } from './shutdown.ts'

/**
 * Makes a request listener of a gateway, for a plain `http.createServer`. All other paths get the gateway's 404. Throws a
 * `TypeError` if it is not given a gateway.
 *
 * @example
 * ```ts
 * createServer(mount(gateway)).listen(3000) // serves /v1/chat/completions and the others
 * ```
 */
export function mount(gateway: Mountable): (request: NodeRequest, response: NodeResponse) => void {
  requireGateway(gateway, 'createServer(mount(gateway))')
  return (request, response) => void answer(gateway, request, response, request.url ?? '/')
}
