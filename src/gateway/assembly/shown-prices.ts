import type { AdmissionServices } from '../../admission/services.ts'
import type { EndpointServices } from '../../endpoints/endpoint.ts'
import { onlyPrice } from '../../models/only-price.ts'
import { scaledOptions } from '../../money/prices/scaled-options.ts'

/** The prices that callers pay, with the factor of their group. None of models whose price depends on who serves them. */
export function shownPrices(
  admission: Pick<AdmissionServices, 'multiplierOf'>,
  currency: string,
): EndpointServices['shownPrice'] {
  return (model, { group }) => {
    const price = onlyPrice(model)
    return price && { currency, ...scaledOptions(price.options, admission.multiplierOf(group)) }
  }
}
