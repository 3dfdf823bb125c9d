/** Writes tools, the choice among them and the format of the answer. */
import type { Conversation, FunctionTool, Output, OwnTool, Tool, Turn } from '../../conversation/conversation.ts'
import type { MessageTraits } from '../../providers/message-traits.ts'
import type { Fields } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { noParameters, sayable } from '../tools.ts'
import { withoutSchemaChoice } from './schema-choice.ts'
import { strictSchema } from './schema.ts'
import { StrictBudget } from './strictness.ts'

type Written = Record<string, unknown>

/** Writes the tools of one request, whose schemas share a limit of what the vendor enforces. */
export class ToolWriter {
  readonly #to: Target<MessageTraits>
  readonly #budget: StrictBudget | undefined

  constructor(to: Target<MessageTraits>) {
    this.#to = to
    this.#budget = to.traits.claude?.schemas === true ? new StrictBudget() : undefined
  }

  /** Undefined for text, and for a schema that the vendor cannot enforce. To be called before `write`. */
  outputFormat(output: Output | undefined): Fields | undefined {
    if (output?.kind !== 'schema') return undefined
    const { schema } = output
    if (this.#to.traits.claude === undefined) return { type: 'json_schema', schema }
    return this.#budget?.take(schema) === true ? { type: 'json_schema', schema: strictSchema(schema) } : undefined
  }

  write({ tools, toolChoice, parallel, turns }: Conversation): Fields {
    const written: Fields[] = []
    for (const tool of tools) this.#add(tool, written)
    const { claude } = this.#to.traits
    if (written.length === 0) return claude === undefined ? {} : pastTools(turns)
    const isSingle = parallel === undefined || (parallel && claude !== undefined) ? undefined : !parallel
    const choice = choiceOf(toolChoice, isSingle)
    return choice === undefined ? { tools: written } : { tools: written, tool_choice: choice }
  }

  #add(tool: Tool, written: Fields[]): void {
    const said = sayable(tool, 'messages')
    if (said === undefined)
      this.#to.omit(tool.place ?? 'tools', `the model has no tools of the type ${(tool as OwnTool).type}`)
    else if (said.kind === 'own') written.push(said.value)
    else if (said.own?.messages?.['added'] !== true) written.push(this.#function(said))
  }

  #function({ name, description, schema, strict, cache, own, place = 'tools' }: FunctionTool): Fields {
    const written: Written = { name }
    if (description !== undefined) written['description'] = description
    if (this.#to.traits.claude === undefined) {
      written['input_schema'] = schema ?? noParameters
      if (strict !== undefined) written['strict'] = strict
    } else {
      const given = schema ?? noParameters
      const isEnforced = strict === true && this.#budget?.takeTool(given) === true
      written['input_schema'] = objectSchema(isEnforced ? strictSchema(given) : schema)
      if (isEnforced) written['strict'] = true
      else if (strict === true) this.#to.omit(`${place}.strict`, 'the vendor cannot enforce this schema')
    }
    if (cache !== undefined) written['cache_control'] = { type: 'ephemeral', ...cache }
    return Object.assign(written, own?.messages)
  }
}

function choiceOf(choice: Conversation['toolChoice'], isSingle: boolean | undefined): Fields | undefined {
  if (choice === 'none') return { type: 'none' }
  if (choice === undefined && isSingle === undefined) return undefined
  const written: Written = typeof choice === 'object' ? { type: 'tool', name: choice.name } : { type: choice ?? 'auto' }
  if (isSingle !== undefined) written['disable_parallel_tool_use'] = isSingle
  return written
}

/** The schema, with the type `object`, which the API requires. */
function objectSchema(schema: Fields = {}): Fields {
  const plain = withoutSchemaChoice(schema)
  return plain['type'] === 'object' ? plain : { ...plain, type: 'object' }
}

/** The API requires a declaration of every tool in the conversation, even if none may be called now. */
function pastTools(turns: readonly Turn[]): Fields {
  const names = new Set<string>()
  for (const { blocks } of turns) for (const block of blocks) if (block.kind === 'call') names.add(block.name)
  if (names.size === 0) return {}
  const tools = Array.from(names, (name) => ({ name, input_schema: objectSchema() }))
  return { tools, tool_choice: { type: 'none' } }
}
