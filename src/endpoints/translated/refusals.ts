/** Errors of a request that its vendor cannot get as it is. */
import { GatewayError } from '../../errors.ts'
import { clientField } from '../../formats/field-names.ts'
import { ProviderError } from '../../providers/failure.ts'
import type { Fields } from '../../wire/json.ts'
import { withParam } from '../param-name.ts'
import type { ClientWire } from './plan.ts'
import type { VendorWire } from './vendor-wires.ts'

/** A 400 for what this vendor cannot say, which another deployment may. */
export function planOrSkip<Plan>(plan: () => Plan): Plan {
  try {
    return plan()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown instanceof ProviderError) throw thrown
    const { code, message, param, cause, headers } = thrown
    throw new ProviderError(code, {
      retry: 'skip',
      begun: false,
      message,
      cause,
      headers,
      ...(param !== null && { param }),
    })
  }
}

/** Whether an error of the plan names a place in the client's own lists. */
export function isPlaced(thrown: unknown): boolean {
  return thrown instanceof ProviderError && thrown.retry === 'skip' && thrown.param?.includes('[') === true
}

/** An error of the vendor with the name of the field that the client sent; the same value if it names none. */
export function withClientField(thrown: unknown, { format }: VendorWire, client: ClientWire, request: Fields): unknown {
  if (!(thrown instanceof GatewayError) || thrown.param === null) return thrown
  const name = clientField(thrown.param, format.fieldNames, client.format.fieldNames, request)
  return name === undefined ? thrown : withParam(thrown, name)
}
