/** What a request draws and holds, before anything is asked of the stores. */
import type { Caller } from '../callers/contract.ts'
import type { Model } from '../models/contract.ts'
import type { BillingOptions } from '../money/options.ts'
import type { CallerCap } from './caps.ts'
import { capOf, claimOf, holdOf, type AdmissionRequest, type Demand, type HiddenOutput } from './demand.ts'
import { estimateOf, type Sizing } from './estimate.ts'
import { hidesTokens } from './hidden-tokens.ts'
import { unstatedLength } from './highest-cost.ts'
import { boundsOf } from './plausible-usage.ts'
import type { SizedRequest } from './prompt.ts'
import type { Scope } from './scopes.ts'
import type { AdmissionServices } from './services.ts'

/** Who sends a request, and the limits that it must pass. */
interface Sender {
  readonly id: string
  readonly caller: Caller
  readonly scopes: readonly Scope[]
}

/** The request, sized. Without an order nothing of it is known. */
export function admissionRequest(
  admission: AdmissionServices,
  { id, caller, scopes }: Sender,
  endpoint: Sizing,
  read: SizedRequest | undefined,
  model: Model,
): AdmissionRequest {
  const order = read ?? nothing
  const estimate = estimateOf(endpoint, order, model, admission.options.billing.bounds)
  const { makes } = endpoint
  return { id, caller, scopes, model, estimate, order, makes, leaseMs: admission.leaseMs }
}

/**
 * Its demand. Throws a 400 for what has no price or cannot be bounded, a 503 for a model without a price. `isHeld`: whether it
 * holds its cost, unlike the submission of a video task.
 */
export function demandOf(
  admission: AdmissionServices,
  request: AdmissionRequest,
  endpoint: Sizing,
  isHeld: boolean,
): Demand {
  const { ledger, billing, limitOptions } = admission.options
  const { caller, estimate, model } = request
  const multiplier = admission.multiplierOf(caller.group)
  const caps = isHeld ? admission.caps.of(caller, model.id) : noCaps
  if (isHeld) admission.userless.note(caller)
  const { hold, cap } =
    caps.length > 0
      ? admission.caps.hold(caps, request, multiplier)
      : { hold: ledger && isHeld ? holdOf(request, multiplier, billing) : undefined, cap: capOf(request, billing) }
  const { claim, rates } = claimOf(request, limitOptions)
  const { promptTokens, hasFiles } = estimate
  return {
    claim,
    rates,
    hold,
    bounds: boundsOf(estimate, model),
    promptTokens,
    hasFiles,
    hidden: hold && hiddenOutput(admission, request, billing),
    requestedUnits: endpoint.once === true || endpoint.makes === 'speech' ? estimate.units : undefined,
    cap: hold && cap,
    caps,
    multiplier,
  }
}

function hiddenOutput(
  { speeds }: AdmissionServices,
  { estimate, model, order }: AdmissionRequest,
  { defaults }: Partial<BillingOptions>,
): HiddenOutput | undefined {
  if (!estimate.writes || !hidesTokens(model, order.field)) return undefined
  const mostTokens = estimate.outputTokens ?? unstatedLength(model, defaults) * estimate.choices
  return { mostTokens, speedOf: (deployment) => speeds.of(deployment) }
}

const noCaps: readonly CallerCap[] = []
const nothing = { promptTokens: 0, field: () => undefined }
