import { formatCost, formatMargin } from '../money/prices/cost.ts'

/** What calls cost the host, as decimal strings. Only where a question asks for `costs`. */
export interface CostView {
  /** What was spent at vendors, as far as it is known. */
  readonly vendorCost?: string
  /** What was charged, less `vendorCost`. */
  readonly margin?: string
}

/** Whether an answer has what calls cost the host. */
export interface CostQuestion {
  /** Adds `vendorCost` and `margin`, which are not for customers. Default false. */
  readonly costs?: boolean
}

/** `charged` in millionths, `cost` in billionths. */
export function costView(charged: bigint, cost: bigint | undefined): CostView {
  return cost === undefined ? {} : { vendorCost: formatCost(cost), margin: formatMargin(charged, cost) }
}
