/** Writes sampling parameters, of which newer models accept fewer and fewer. */
import type { Settings } from '../../conversation/conversation.ts'
import type { MessageTraits } from '../../providers/message-traits.ts'
import { unsupportedValue } from '../../providers/unsupported.ts'
import { clientName } from '../field-names.ts'
import type { Target } from '../format.ts'

const advice = {
  temperature: 'use a value between 0 and 1; omit it if the model reasons or does not support it.',
  topP: 'omit it, or omit "temperature".',
  topK: 'omit it.',
}
const names = { temperature: 'temperature', topP: 'top_p', topK: 'top_k' } as const

/** `thinks`: whether the model thinks before it answers. */
export function writeSampling(
  { temperature, topP, topK }: Settings,
  to: Target<MessageTraits>,
  thinks: boolean,
): Record<string, number> {
  const { claude, sampling = 'fit' } = to.traits
  const written: Record<string, number> = {}
  const asked = { temperature, topP, topK }
  for (const field of Object.keys(names) as (keyof typeof names)[]) {
    const value = asked[field]
    if (value === undefined) continue
    if (claude === undefined) {
      written[names[field]] = value
      continue
    }
    // 1 is the default of every model.
    if (value === 1 && field !== 'topK') continue
    const isSecond = field === 'topP' && claude.sampling === 'one' && temperature !== undefined && temperature !== 1
    const isRejected = claude.sampling === 'none' || thinks || isSecond
    const fitted = field === 'temperature' ? Math.min(value, 1) : value
    if (!isRejected && fitted === value) {
      written[names[field]] = value
      continue
    }
    const name = clientName(to, field)
    if (sampling === 'refuse') throw unsupportedValue({ publicModel: to.model }, name, advice[field])
    to.omit(name, thinks ? 'the model reasons' : advice[field])
    if (!isRejected) written[names[field]] = fitted
  }
  return written
}
