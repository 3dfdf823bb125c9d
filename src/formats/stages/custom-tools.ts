/** Custom tools, whose input is any text, at vendors without them: functions with one string, and back. */
import type { Block, CallBlock, Conversation, FunctionTool, Tool } from '../../conversation/conversation.ts'
import { objectOf } from '../../conversation/json.ts'
import type { Part } from '../../conversation/parts.ts'
import { fieldsOf, textOf, type Fields } from '../../wire/json.ts'
import { stage, type Stage } from './stage.ts'

/** A conversation with functions instead of custom tools. `stage`: makes the stage that turns their calls back. */
export interface WithFunctions {
  readonly conversation: Conversation
  readonly stage: (() => Stage) | undefined
}

/** The same conversation if it has no custom tools. */
export function withFunctionsForCustomTools(conversation: Conversation): WithFunctions {
  const made = conversation.tools.map(functionFor)
  const isUsed = conversation.turns.some(({ blocks }) => blocks.some(isCustom))
  if (made.every((each) => each === undefined) && !isUsed) return { conversation, stage: undefined }
  const names = new Set(made.flatMap((each) => each?.name ?? []))
  const tools = conversation.tools.map((tool, index) => made[index] ?? tool)
  const turns = isUsed
    ? conversation.turns.map((turn) =>
        turn.blocks.some(isCustom) ? { ...turn, blocks: turn.blocks.map(withFunctionCall) } : turn,
      )
    : conversation.turns
  return { conversation: { ...conversation, tools, turns }, stage: () => customCalls(names) }
}

const description = 'Its input is a text, not JSON.'

/** Undefined for any other tool. */
function functionFor(tool: Tool): FunctionTool | undefined {
  if (tool.kind !== 'own' || tool.type !== 'custom') return undefined
  if (tool.instead !== undefined) return tool.instead
  const { custom, ...plain } = tool.value
  const { name } = custom === undefined ? plain : fieldsOf(custom)
  return typeof name === 'string' ? customFunction(tool.value, name, tool.place) : undefined
}

/** The function for a custom tool. `name`: also of its group. */
export function customFunction(raw: Fields, name: string, place: string | undefined): FunctionTool {
  const { description: told, format } = raw['custom'] === undefined ? raw : fieldsOf(raw['custom'])
  const text = [textOf(told), description, grammarIn(fieldsOf(format))].filter((each) => each !== '').join('\n\n')
  const schema = {
    type: 'object',
    properties: { input: { type: 'string', description: 'The text' } },
    required: ['input'],
    additionalProperties: false,
  }
  return { kind: 'function', name, description: text, schema, place }
}

/** A chat has the grammar in a field of its own, Responses beside the type. */
function grammarIn(format: Fields): string {
  if (format['type'] !== 'grammar') return ''
  const { syntax, definition } = format['grammar'] === undefined ? format : fieldsOf(format['grammar'])
  return `The text must fit this ${textOf(syntax)} grammar:\n${textOf(definition)}`
}

function isCustom(block: Block): block is CallBlock {
  return block.kind === 'call' && block.by === 'custom'
}

function withFunctionCall(block: Block): Block {
  return isCustom(block) ? { ...block, by: 'function', input: JSON.stringify({ input: block.input }) } : block
}

/** Turns calls of these functions into calls of custom tools. Their input is complete before the text in it is known. */
export function customCalls(names: ReadonlySet<string>): Stage {
  const inputs = new Map<number, string>()
  return stage('call', (part): readonly Part[] => {
    switch (part.kind) {
      case 'call':
        if (!names.has(part.name)) return [part]
        inputs.set(part.block, '')
        return [{ ...part, by: 'custom' }]
      case 'input': {
        const before = inputs.get(part.block)
        if (before === undefined) return [part]
        inputs.set(part.block, before + part.text)
        return []
      }
      case 'ended': {
        const input = inputs.get(part.block)
        if (input === undefined) return [part]
        inputs.delete(part.block)
        return [{ kind: 'input', choice: part.choice, block: part.block, text: textIn(input) }, part]
      }
      default:
        return [part]
    }
  })
}

/** The text of an input; the input itself if the model has not kept to the function. */
function textIn(input: string): string {
  const text = objectOf(input)?.['input']
  return typeof text === 'string' ? text : input
}
