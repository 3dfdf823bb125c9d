import type { GatewayState } from '../../observe/state.ts'
import type { Assembly } from './assemble.ts'

/** The state of a gateway. Calls no store; costs as much as there are open requests. */
export function stateOf({ admission, breaker, calls, observer }: Assembly, closing: boolean): GatewayState {
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
