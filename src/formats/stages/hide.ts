/** Reasoning for a client that does not get its text: what the vendor wants back goes into its state. */
import type { State } from '../../conversation/conversation.ts'
import type { Part } from '../../conversation/parts.ts'
import { stage, type Stage } from './stage.ts'

/** `withText`: how the vendor's format puts a text into its state. */
export function hideReasoning(withText: (state: State, text: string) => State): Stage {
  const texts = new Map<number, string>()
  return stage('reasoning', (part): readonly Part[] => {
    if (part.kind === 'reasoning') {
      texts.set(part.block, (texts.get(part.block) ?? '') + part.text)
      return [{ ...part, text: '' }]
    }
    const text = part.kind === 'state' ? texts.get(part.block) : undefined
    return [part.kind === 'state' && text !== undefined ? { ...part, state: withText(part.state, text) } : part]
  })
}
