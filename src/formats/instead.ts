/** What formats say in place of what they do not have. */
import type { Block, OwnBlock, Turn } from '../conversation/conversation.ts'
import type { AskedFormat, Target } from './format.ts'

/** What the wire `format` says in place of a block that only another one has. What it cannot say is reported. */
export function insteadOf(
  { format: owner, instead, isNote, place = 'turns' }: OwnBlock,
  format: AskedFormat,
  to: Pick<Target<unknown>, 'omit'>,
): readonly Block[] {
  if (instead === undefined || isNote === true) to.omit(place, `a block of ${owner}`)
  return (instead ?? []).flatMap((each) => saidAs(each, format, to))
}

/** The block, or what the wire says in its place. */
export function saidAs(block: Block, format: AskedFormat, to: Pick<Target<unknown>, 'omit'>): readonly Block[] {
  return block.kind === 'own' && block.format !== format ? insteadOf(block, format, to) : [block]
}

/** What an answer says in place of a block that only another wire has; empty for nothing. */
export function textInstead({ instead = [] }: Pick<OwnBlock, 'instead'>): string {
  return instead.map((block) => (block.kind === 'text' ? block.text : '')).join('')
}

/** Instructions among the words of the user, for models that take them only before all others. */
export function instructionText(blocks: readonly Block[]): string {
  return `<system>\n${blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('\n\n')}\n</system>`
}

const jsonTurn: Turn = {
  role: 'system',
  blocks: [
    {
      kind: 'text',
      text: 'Answer with one valid JSON object and nothing else: no code fence, no words before or after it.',
    },
  ],
}

/**
 * The turns with an instruction to write JSON, for vendors that cannot be held to it. It stands after those at the beginning,
 * where it stays from turn to turn.
 */
export function withJsonInstruction(turns: readonly Turn[]): readonly Turn[] {
  const at = turns.findIndex(({ role }) => role !== 'system')
  return at < 0 ? [...turns, jsonTurn] : [...turns.slice(0, at), jsonTurn, ...turns.slice(at)]
}
