/** Sampling parameters, of which newer models accept fewer and fewer. */
import type { Call } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { ClaudeTraits } from './models.ts'

/** How to treat values that the model does not accept. `fit`: adjust or drop them. `refuse`: respond with a 400. */
export type SamplingManner = 'fit' | 'refuse'

const advice = {
  temperature: 'use a value between 0 and 1; omit it if the model reasons or does not support it.',
  top_p: 'omit it, or omit "temperature".',
  top_k: 'omit it.',
}

type Field = keyof typeof advice

export function samplingFor(
  call: Pick<Call<ChatRequest>, 'request' | 'publicModel'>,
  traits: ClaudeTraits,
  thinks: boolean,
  manner: SamplingManner,
): Partial<Record<Field, number>> {
  const { temperature, top_p: topP } = call.request
  const requested = { temperature: unlessOne(temperature), top_p: unlessOne(topP), top_k: call.request['top_k'] }
  const accepted: Partial<Record<Field, number>> = {}
  for (const field of Object.keys(requested) as Field[]) {
    const value = requested[field]
    if (typeof value !== 'number') continue
    const second = field === 'top_p' && traits.sampling === 'one' && requested.temperature !== undefined
    const rejected = traits.sampling === 'none' || thinks || second
    const adjusted = field === 'temperature' ? Math.min(value, 1) : value
    if (manner === 'refuse' && (rejected || adjusted !== value)) throw unsupportedValue(call, field, advice[field])
    if (!rejected) accepted[field] = adjusted
  }
  return accepted
}

/** Ignores 1, which is the default of every model. */
function unlessOne(value: number | null | undefined): number | undefined {
  return value === null || value === 1 ? undefined : value
}
