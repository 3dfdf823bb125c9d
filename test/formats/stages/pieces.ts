/** Short names for the parts of streams. */
import type { End, Part } from '../../../src/conversation/parts.ts'
import { staged, type Stage } from '../../../src/formats/stages/stage.ts'

export const text = (block: number, words: string, choice = 0): Part => ({ kind: 'text', choice, block, text: words })
export const input = (block: number, json: string): Part => ({ kind: 'input', choice: 0, block, text: json })
export const ended = (block: number): Part => ({ kind: 'ended', choice: 0, block })
export const end = (reason: End['reason'], choice = 0): Part => ({ kind: 'end', choice, end: { reason } })

export function call(block: number, name: string): Part {
  return { kind: 'call', choice: 0, block, id: `call_${block}`, name, by: 'function' }
}

/** What a stage makes of a stream, part by part. */
export function through(stage: Stage, parts: readonly Part[]): readonly Part[] {
  return parts.flatMap((part) => staged([part], [stage]))
}
