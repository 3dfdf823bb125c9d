import { Quotes } from '../../admission/quotes.ts'
import type { Admission } from '../../admission/admission.ts'
import type { EndpointServices } from '../../endpoints/endpoint.ts'
import { fittedOrder } from '../../endpoints/fitted-order.ts'
import type { Routes } from '../../endpoints/routes.ts'
import { invalid } from '../../errors.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import type { Catalogue } from '../../models/catalogue.ts'
import type { GatewayOptions } from '../options/options.ts'
import { addressed } from './addressed.ts'

interface Parts {
  readonly options: GatewayOptions
  readonly routes: Routes
  readonly admission: Admission
  readonly catalogue: Catalogue
  readonly sizes: Sizes
  readonly services: () => EndpointServices
  readonly now: () => number
}

/** Takes the steps of a call up to its admission, and says what it would hold. */
export function quoting({
  options,
  routes,
  admission,
  catalogue,
  sizes,
  services,
  now,
}: Parts): EndpointServices['quote'] {
  const quotes = new Quotes(admission)
  return async ({ id, exchange, caller, target, body, admit }) => {
    const { headers, base, signal, cancellation, ip, host } = exchange
    // The headers of the body are those of the question.
    const { 'content-length': _, 'content-encoding': __, ...others } = headers
    const asked: Exchange = {
      method: 'POST',
      target,
      headers: { ...others, 'content-type': 'application/json' },
      body: { state: 'text', text: body },
      base,
      signal,
      cancellation,
      ip,
      host,
    }
    const call = addressed(asked, options)
    const endpoint = routes.callAt(call.target)
    if (endpoint === undefined) {
      throw invalid('"endpoint" must be the path of one that calls a model, such as "chat/completions".', 'endpoint')
    }
    const read = await endpoint.read(call, sizes, { caller, services: services(), now })
    const model = await catalogue.find(read.model, caller, now())
    await admit(model)
    const order = fittedOrder(endpoint, read, model)
    await endpoint.fit?.(order, model)
    return { model: model.id, quote: await quotes.of({ id, caller, endpoint, order, model }) }
  }
}
