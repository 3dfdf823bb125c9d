import type { Groups } from '../../models/access.ts'
import { isRegistry, type GatewayOptions } from '../options/options.ts'
import type { Stores } from './stores.ts'
import type { Observer } from '../../observe/observe.ts'
import { Admission } from '../../admission/admission.ts'

/** Creates the admission of a gateway from its options and stores. */
export function createAdmission(
  options: GatewayOptions,
  stores: Stores,
  groups: Groups,
  observer: Observer,
): Admission {
  const { models, billing = {}, limits: limitOptions = {}, usage: usageOptions = {}, storage, timeouts } = options
  const { limits, ledger, usage } = stores
  return new Admission({
    groups,
    limits,
    limitOptions,
    modelRates: isRegistry(models) || Object.values(models).some((entry) => 'rate' in entry),
    ledger,
    admission: storage?.admission,
    billing,
    usage,
    usageOptions,
    timeoutMs: timeouts?.storeMs ?? 2_000,
    now: options.clock ?? (() => performance.now()),
    time: options.clock ?? Date.now,
    observer,
  })
}
