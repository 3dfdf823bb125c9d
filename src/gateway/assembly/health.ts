import type { GatewayHealth } from '../../observe/health.ts'
import type { Assembly } from './assemble.ts'
import { stateOf } from './state.ts'
import type { StoreResults } from './store-checks.ts'

/**
 * The health of a gateway. `isClosing`: whether `close` was called; then no store is asked, because it may be closed.
 * `isDraining`: whether `drain` was called.
 */
export async function healthOf(
  assembly: Assembly,
  isClosing: () => boolean,
  isDraining: () => boolean,
): Promise<GatewayHealth> {
  const { checks, deployments } = assembly
  const { stores, tasksDue }: StoreResults = isClosing() ? checks.last : await checks.read()
  const { closing, breakers: _, ...state } = stateOf(assembly, isClosing())
  const draining = closing || isDraining()
  return {
    ready: !draining && stores.every(({ reachable, required }) => reachable || !required),
    draining,
    stores,
    deployments: deployments.health,
    ...state,
    ...(tasksDue !== undefined && { tasksDue }),
  }
}
