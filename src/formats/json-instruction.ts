/** JSON for vendors that cannot be held to it: an instruction. */
import type { Turn } from '../conversation/conversation.ts'

const jsonTurn: Turn = {
  role: 'system',
  blocks: [
    {
      kind: 'text',
      text: 'Answer with one valid JSON object and nothing else: no code fence, no words before or after it.',
    },
  ],
}

/** The instruction stands after those at the beginning, where it stays from turn to turn. */
export function withJsonInstruction(turns: readonly Turn[]): readonly Turn[] {
  const at = turns.findIndex(({ role }) => role !== 'system')
  return at < 0 ? [...turns, jsonTurn] : [...turns.slice(0, at), jsonTurn, ...turns.slice(at)]
}
