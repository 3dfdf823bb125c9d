/** Tools, and which of them must be used, in the words of the Messages API. */
import type { Turn } from '../reading/messages.ts'
import { isRecord } from '../reading/parts.ts'
import type { Format } from '../reading/settings.ts'
import { answerToolName, type FunctionTool, type ToolPlan } from '../reading/tools.ts'
import type { ClaudeTraits } from './models.ts'
import { strictSchema } from './schema.ts'

export interface ToolFields {
  readonly tools?: readonly object[]
  readonly tool_choice?: Readonly<Record<string, unknown>>
}

export function toolFields(plan: ToolPlan, turns: readonly Turn[], traits: ClaudeTraits): ToolFields {
  if (plan.tools.length === 0) return pastTools(turns)
  const tools = plan.tools.map((tool) => toolOf(tool, traits))
  const choice = choiceOf(plan)
  return choice === undefined ? { tools } : { tools, tool_choice: choice }
}

/** A tool whose input is the answer itself: it stands in for a schema where the model cannot be held to one. */
export function withAnswerTool(
  plan: ToolPlan,
  format: Extract<Format, { kind: 'schema' }>,
  traits: ClaudeTraits,
  free: boolean,
): ToolFields & { readonly name: string } {
  const name = answerToolName(plan, format.name)
  const description = format.description ?? 'Gives the final answer. Always answer by calling this tool.'
  const tools = [
    ...plan.tools.map((tool) => toolOf(tool, traits)),
    { name, description, input_schema: objectSchema(format.schema) },
  ]
  const alone = plan.tools.length === 0 || plan.use?.mode === 'none'
  const one = (alone || plan.single) && { disable_parallel_tool_use: true }
  if (plan.use?.mode === 'named') return { name, tools, tool_choice: { type: 'tool', name: plan.use.name, ...one } }
  // A model that thinks, or cannot be forced, is asked by the description alone.
  if (!free) return { name, tools, tool_choice: { type: 'auto', ...one } }
  return { name, tools, tool_choice: alone ? { type: 'tool', name, ...one } : { type: 'any', ...one } }
}

function choiceOf({ use, single }: ToolPlan): Record<string, unknown> | undefined {
  const one = single && { disable_parallel_tool_use: true }
  if (use === undefined) return single ? { type: 'auto', ...one } : undefined
  if (use.mode === 'none') return { type: 'none' }
  if (use.mode === 'named') return { type: 'tool', name: use.name, ...one }
  return { type: use.mode === 'required' ? 'any' : 'auto', ...one }
}

function toolOf({ name, description, schema, strict, raw }: FunctionTool, traits: ClaudeTraits) {
  const held = strict === true && traits.schemas
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: objectSchema(held && schema !== undefined ? strictSchema(schema) : schema),
    ...(held && { strict: true }),
    ...(isRecord(raw['cache_control']) && { cache_control: raw['cache_control'] }),
  }
}

/** The schema as it is, but always that of an object. */
function objectSchema(schema: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return schema['type'] === 'object' ? schema : { ...schema, type: 'object' }
}

/** The API wants every tool of the conversation declared, also when none may be called any more. */
function pastTools(turns: readonly Turn[]): ToolFields {
  const names = new Set(turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ name }) => name) : [])))
  if (names.size === 0) return {}
  return { tools: [...names].map((name) => ({ name, input_schema: objectSchema() })), tool_choice: { type: 'none' } }
}
