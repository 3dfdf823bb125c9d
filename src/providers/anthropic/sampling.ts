/** Temperature and its kin, which newer models take less and less of. */
import type { Call } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { ClaudeTraits } from './models.ts'

/** `fit`: brought into what the model takes, left out where it takes nothing. `refuse`: 400. */
export type SamplingManner = 'fit' | 'refuse'

const advice = {
  temperature: 'it must be between 0 and 1, or left out where the model does not take it or thinks.',
  top_p: 'leave it out, or leave out "temperature".',
  top_k: 'leave it out.',
}

type Field = keyof typeof advice

export function samplingFor(
  call: Pick<Call<ChatRequest>, 'request' | 'publicModel'>,
  traits: ClaudeTraits,
  thinks: boolean,
  manner: SamplingManner,
): Partial<Record<Field, number>> {
  const { temperature, top_p: topP } = call.request
  const asked = { temperature: unlessOne(temperature), top_p: unlessOne(topP), top_k: call.request['top_k'] }
  const taken: Partial<Record<Field, number>> = {}
  for (const field of Object.keys(asked) as Field[]) {
    const value = asked[field]
    if (typeof value !== 'number') continue
    const crowded = field === 'top_p' && traits.sampling === 'one' && asked.temperature !== undefined
    const refused = traits.sampling === 'none' || thinks || crowded
    const fitting = field === 'temperature' ? Math.min(value, 1) : value
    if (manner === 'refuse' && (refused || fitting !== value)) throw unsupportedValue(call, field, advice[field])
    if (!refused) taken[field] = fitting
  }
  return taken
}

/** 1 is what every model does unasked. */
function unlessOne(value: number | null | undefined): number | undefined {
  return value === null || value === 1 ? undefined : value
}
