/** Tools, and which of them must be used, in the words of the Messages API. */
import type { Turn } from '../reading/messages.ts'
import { isRecord } from '../reading/parts.ts'
import type { Format } from '../reading/settings.ts'
import { answerToolName, type FunctionTool, type ToolPlan } from '../reading/tools.ts'
import { withoutChoice } from './choice.ts'
import { strictSchema } from './schema.ts'
import type { StrictBudget } from './strictness.ts'

export interface ToolFields {
  readonly tools?: readonly object[]
  readonly tool_choice?: Readonly<Record<string, unknown>>
}

/** `budget` is undefined where the model cannot be held to the schema of a tool. */
export function toolFields(plan: ToolPlan, turns: readonly Turn[], budget: StrictBudget | undefined): ToolFields {
  if (plan.tools.length === 0) return pastTools(turns)
  const tools = plan.tools.map((tool) => toolOf(tool, budget))
  const choice = choiceOf(plan)
  return choice === undefined ? { tools } : { tools, tool_choice: choice }
}

/** A tool whose input is the answer itself: it stands in for a schema where the model cannot be held to one. */
export function withAnswerTool(
  plan: ToolPlan,
  format: Extract<Format, { kind: 'schema' }>,
  budget: StrictBudget | undefined,
  free: boolean,
): ToolFields & { readonly name: string } {
  const name = answerToolName(plan, format.name)
  const description = format.description ?? 'Gives the final answer. Always answer by calling this tool.'
  const tools = [
    ...plan.tools.map((tool) => toolOf(tool, budget)),
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

function toolOf({ name, description, schema, strict, raw }: FunctionTool, budget: StrictBudget | undefined) {
  const given = schema ?? noParameters
  const held = strict === true && budget?.takeTool(given) === true
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: objectSchema(held ? strictSchema(given) : schema),
    ...(held && { strict: true }),
    ...(isRecord(raw['cache_control']) && { cache_control: raw['cache_control'] }),
  }
}

const noParameters = { type: 'object', properties: {} }

/** The schema as it is, but always that of an object. */
function objectSchema(schema: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  const plain = withoutChoice(schema)
  return plain['type'] === 'object' ? plain : { ...plain, type: 'object' }
}

/** The API wants every tool of the conversation declared, also when none may be called any more. */
function pastTools(turns: readonly Turn[]): ToolFields {
  const names = new Set(turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ name }) => name) : [])))
  if (names.size === 0) return {}
  return { tools: [...names].map((name) => ({ name, input_schema: objectSchema() })), tool_choice: { type: 'none' } }
}
