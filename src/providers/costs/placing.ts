/** Fields that say where a request may be processed, or what may be kept of it. */
import type { Harmless } from './contract.ts'

/**
 * With the values that demand nothing. Clients rely on them, so that a request with one is rejected where the vendor does not
 * get it, or would ignore it.
 */
export const placing: Readonly<Record<string, Harmless>> = {
  inference_geo: ['global'],
  // The preferences of OpenRouter.
  provider: (value) => {
    const { data_collection: collection, zdr } = Object(value) as { data_collection?: unknown; zdr?: unknown }
    return collection !== 'deny' && zdr !== true
  },
}
