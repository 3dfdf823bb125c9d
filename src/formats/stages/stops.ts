/** Stop sequences that the vendor lacks: the text of a choice ends before the first one, and nothing follows. */
import type { Part, TextPart } from '../../conversation/parts.ts'
import { stage, type Stage } from './stage.ts'
import { StopScanner } from './stop-scanner.ts'

interface ScannedChoice {
  readonly scanner: StopScanner
  /** The block of the text that was read last. */
  block: number
  /** What belongs to the text that the scanner holds. */
  held: Pick<TextPart, 'logprobs' | 'own'> | undefined
}

export function stopAt(stops: readonly string[]): Stage {
  const choices = new Map<number, ScannedChoice>()
  return stage('text', (part): readonly Part[] => {
    // What belongs to no choice, or to the whole answer.
    if (!('choice' in part) || part.choice < 0) return [part]
    let choice = choices.get(part.choice)
    if (choice === undefined)
      choices.set(part.choice, (choice = { scanner: new StopScanner(stops), block: -1, held: undefined }))
    const { scanner } = choice
    if (part.kind === 'end' && scanner.found !== undefined)
      return [{ ...part, end: { reason: 'stop', stop: scanner.found } }]
    if (scanner.found !== undefined) return []
    if (part.kind === 'text') {
      choice.block = part.block
      const text = scanner.push(part.text)
      const whole = choice.held === undefined ? part : { ...part, ...joined(choice.held, part) }
      choice.held = text === '' ? whole : undefined
      return text === '' ? [] : [{ ...whole, text }]
    }
    const rest = scanner.flush()
    if (rest === '') return [part]
    const { logprobs, own } = choice.held ?? {}
    choice.held = undefined
    return [{ kind: 'text', choice: part.choice, block: choice.block, text: rest, logprobs, own }, part]
  })
}

function joined(
  { logprobs, own }: Pick<TextPart, 'logprobs' | 'own'>,
  more: TextPart,
): Pick<TextPart, 'logprobs' | 'own'> {
  const tokens = logprobs && more.logprobs ? [...logprobs, ...more.logprobs] : (logprobs ?? more.logprobs)
  return { logprobs: tokens, own: own ?? more.own }
}
