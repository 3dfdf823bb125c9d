/** Asking providers that answer conversations themselves: the request is the conversation, the answer is its parts. */
import { refuseChatOnly } from '../chat-only.ts'
import { arranged } from '../../conversation/arrange.ts'
import type { Block, Conversation, Fields, Tool, Turn } from '../../conversation/conversation.ts'
import type { Answer } from '../../conversation/parts.ts'
import { insteadOf } from '../instead.ts'
import { namedSettings, preparedWith, type Asking, type FieldNames, type Prepared, type Target } from '../format.ts'
import { withFunctionsForCustomTools } from '../stages/custom-tools.ts'
import { readAnswer } from './answer.ts'
import { Mistakes } from './mistakes.ts'
import { PartReader } from './part-reader.ts'

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
