/** Which inspectors look into a call. */
import type { EndpointServices } from '../../endpoints/endpoint.ts'
import type { Inspect } from '../../inspect/contract.ts'
import { Inspection } from '../../inspect/inspection.ts'
import type { Observer } from '../../observe/observe.ts'
import { isRegistry, type GatewayOptions } from '../options/options.ts'

const none: readonly Inspect[] = []

/** Undefined if no options have any. A registry of the host may have models with some. */
export function inspecting(options: GatewayOptions, observer: Observer): EndpointServices['inspect'] {
  const { inspect: all = none, groups = {}, models } = options
  const inModels = isRegistry(models) || Object.values(models).some((entry) => 'inspect' in entry)
  if (!inModels && all.length === 0 && Object.values(groups).every(({ inspect }) => inspect === undefined))
    return undefined
  return (id, endpoint, { id: model, inspect: own = none }, { account, group, key, user }) => {
    const { inspect: ofGroup = none } = Object.hasOwn(groups, group) ? (groups[group] ?? {}) : {}
    const chosen = [...all, ...ofGroup, ...own]
    if (chosen.length === 0) return undefined
    const call = { id, endpoint, model, caller: { account, group, key, user } }
    const made = chosen.map((each) => (typeof each === 'function' ? each(call) : each))
    const inspectors = made.filter((each) => each !== undefined)
    if (inspectors.length === 0) return undefined
    return new Inspection(inspectors, { call, failed: (error) => observer.failure({ id, error }) })
  }
}
