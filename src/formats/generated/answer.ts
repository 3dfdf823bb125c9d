/** Whole answers of a provider's `generate`. */
import type { Block, CallBlock } from '../../conversation/conversation.ts'
import type { Answer, Choice } from '../../conversation/parts.ts'
import { maxChoices, tooMany } from '../../providers/answer-bounds.ts'
import { isRecord } from '../../wire/json.ts'
import { ownId } from '../chat/tool-calls.ts'
import { Mistakes } from './mistakes.ts'

/** The answer with what the provider left to the gateway. Throws for what is not an answer. */
export function readAnswer(answer: Answer, provider: string): Answer {
  const mistakes = new Mistakes(provider)
  const { choices, usage } = answer
  if (!Array.isArray(choices) || choices.length === 0) throw mistakes.answer('neither parts nor an answer with choices')
  if (choices.length > maxChoices) throw tooMany('choices', maxChoices)
  const counted = mistakes.requireUsage(usage, undefined)
  const ids = new Set<string>()
  const read = choices.map((choice) => readChoice(choice as Choice, ids, mistakes))
  return { ...answer, choices: read, ...(counted && { usage: counted }) }
}

function readChoice(choice: Choice, ids: Set<string>, mistakes: Mistakes): Choice {
  if (!isRecord(choice) || !Array.isArray(choice.blocks)) throw mistakes.answer('a choice without blocks')
  const { end } = choice
  if (end !== undefined) mistakes.requireEnd(end)
  const blocks = (choice.blocks as readonly Block[]).map((block) => readBlock(block, ids, mistakes))
  return { ...choice, blocks, end: end ?? { reason: blocks.some(({ kind }) => kind === 'call') ? 'calls' : 'stop' } }
}

function readBlock(block: Block, ids: Set<string>, mistakes: Mistakes): Block {
  mistakes.requirePart(block)
  if (block.kind !== 'call') return block
  const { id, by, input } = block as Partial<CallBlock>
  return { ...block, id: ownId(id, ids), by: by ?? 'function', input: input || '{}' }
}
