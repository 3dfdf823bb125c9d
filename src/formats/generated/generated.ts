/** Asking providers that answer conversations themselves: the request is the conversation, the answer is its parts. */
import { refuseChatOnly } from '../chat-only.ts'
import { arranged } from '../../conversation/arrange.ts'
import type { Block, Conversation, Fields, Tool, Turn, CallBlock } from '../../conversation/conversation.ts'
import type { Answer, Choice } from '../../conversation/parts.ts'
import { insteadOf } from '../instead.ts'
import { namedSettings, preparedWith, type Asking, type FieldNames, type Prepared, type Target } from '../format.ts'
import { withFunctionsForCustomTools } from '../stages/custom-tools.ts'
import { Mistakes } from './mistakes.ts'
import { PartReader } from './part-reader.ts'
import { maxChoices, tooMany } from '../../providers/answer-bounds.ts'
import { isRecord } from '../../wire/json.ts'
import { ownId } from '../chat/tool-calls.ts'

/** What a provider leaves out. */
export interface GeneratedTraits {
  readonly dropParams?: readonly string[] | undefined
}

const fieldNames: FieldNames = {
  turns: ['turns'],
  tools: ['tools'],
  toolChoice: ['toolChoice'],
  parallel: ['parallel'],
  output: ['output'],
  ...Object.fromEntries(namedSettings.map((name) => [name, [`settings.${name}`]])),
}

/** For the provider of this name. */
export function generatedBy(provider: string): Asking<GeneratedTraits> {
  return {
    name: 'generate',
    fieldNames,
    prepare,
    writeRequest: (conversation, to) => plain(conversation, to) as unknown as Fields,
    stopsIn: () => [],
    readAnswer: (answer) => readAnswer(answer as unknown as Answer, provider),
    eventReader: () => new PartReader(provider),
  }
}

/** What `generate` of the provider of this name has returned. */
export function generatedAnswer<Given>(given: Given | Promise<Given>, provider: string): Given | Promise<Given> {
  const mistakes = new Mistakes(provider)
  return given instanceof Promise ? given.then((each) => mistakes.requireAnswer(each)) : mistakes.requireAnswer(given)
}

/** Throws 400 for what changes the answer and is not in a conversation. */
function prepare(asked: Conversation, { model, traits: { dropParams } }: Target<GeneratedTraits>): Prepared {
  refuseChatOnly(asked, model, dropParams)
  const { conversation, stage } = withFunctionsForCustomTools(asked)
  return preparedWith(conversation, [stage])
}

/** A conversation in the words that all formats share, with the results of calls directly after them. */
function plain(conversation: Conversation, to: Target<unknown>): Conversation {
  const { turns, tools } = conversation
  const ordered = arranged(turns)
  return {
    ...conversation,
    turns: ordered.some(({ blocks }) => blocks.some(isOwn)) ? ordered.map((turn) => plainTurn(turn, to)) : ordered,
    tools: tools.some(({ kind }) => kind === 'own') ? tools.flatMap((tool) => plainTool(tool, to)) : tools,
  }
}

function isOwn(block: Block): boolean {
  return block.kind === 'own' || (block.kind === 'result' && block.blocks.some(isOwn))
}

function plainTurn(turn: Turn, to: Target<unknown>): Turn {
  return turn.blocks.some(isOwn) ? { ...turn, blocks: turn.blocks.flatMap((block) => plainBlock(block, to)) } : turn
}

function plainBlock(block: Block, to: Target<unknown>): readonly Block[] {
  if (block.kind === 'result') return [{ ...block, blocks: block.blocks.flatMap((each) => plainBlock(each, to)) }]
  if (block.kind !== 'own') return [block]
  return insteadOf(block, 'generate', to)
}

function plainTool(tool: Tool, to: Target<unknown>): readonly Tool[] {
  if (tool.kind === 'function') return [tool]
  if (tool.instead === undefined) to.omit(tool.place ?? 'tools', `a tool that only ${tool.format} has`)
  return tool.instead === undefined ? [] : [tool.instead]
}

/** The answer with what the provider left to the gateway. Throws for what is not an answer. */
function readAnswer(answer: Answer, provider: string): Answer {
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
