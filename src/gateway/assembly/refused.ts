import type { Observer } from '../../observe/observe.ts'
import type { GatewayOptions } from '../options/options.ts'
import type { Guard } from '../../records/guard.ts'
import type { UsageStore } from '../../observe/usage/contract.ts'
import { RefusedLog } from '../../observe/usage/refused-log.ts'

/** Creates the log of refused requests; undefined if the options turn it off, or if the store cannot keep them. */
export function refusedLog(
  { usage = {}, clock: now = Date.now }: GatewayOptions,
  store: UsageStore | undefined,
  guard: Guard,
  observer: Observer,
): RefusedLog | undefined {
  const { refused = {}, keepMs, maxUsers = 1_000 } = usage
  if (refused === false || store === undefined || !keepsRefused(store)) return undefined
  return new RefusedLog({
    store,
    refused,
    keepMs,
    maxUsers,
    guard,
    now,
    failed: (id, error) => observer.failure({ id, error }),
  })
}

function keepsRefused(store: UsageStore): store is UsageStore & Required<Pick<UsageStore, 'appendRefused'>> {
  return store.appendRefused !== undefined
}
