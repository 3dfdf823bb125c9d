import type { GatewayHealth } from '../../observe/health.ts'
import type { Assembly } from './assemble.ts'
import type { StoreResults } from './store-checks.ts'
import type { GatewayState } from '../../observe/gateway-state.ts'

/**
 * The health of a gateway. `isClosing`: whether `close` was called; then no store is asked, because it may be closed.
 * `isDraining`: whether `drain` was called.
 */
export async function healthOf(
  assembly: Assembly,
  isClosing: () => boolean,
  isDraining: () => boolean,
): Promise<GatewayHealth> {
  const { admission, checks, deployments } = assembly
  const { stores, tasksDue }: StoreResults = isClosing() ? checks.last : await checks.read()
  const { closing, breakers: _, ...state } = gatewayStateOf(assembly, isClosing())
  const draining = closing || isDraining()
  return {
    ready: !draining && stores.every(({ reachable, required }) => reachable || !required),
    draining,
    stores,
    deployments: deployments.health,
    ...state,
    ...(tasksDue !== undefined && { tasksDue }),
    ...(admission.exporter && { export: admission.exporter.state }),
  }
}

/** The state of a gateway. Calls no store; costs as much as there are open requests. */
export function gatewayStateOf({ admission, breaker, calls, observer }: Assembly, closing: boolean): GatewayState {
  const { settlements, records, leases, droppedRecords } = admission
  return {
    openCalls: calls.size,
    holds: leases.holds,
    queues: { ...settlements.sizes, usage: records?.size ?? 0 },
    droppedRecords,
    breakers: breaker.open,
    failingStores: observer.failingStores,
    closing,
  }
}
