/** Translates `tools` and `tool_choice`. */
import type { Turn } from '../reading/messages.ts'
import { isRecord } from '../../wire/json.ts'
import type { Format } from '../reading/settings.ts'
import { answerToolName, type FunctionTool, type ToolPlan } from '../reading/tools.ts'
import { withoutSchemaChoice } from './schema-choice.ts'
import { strictSchema } from './schema.ts'
import type { StrictBudget } from './strictness.ts'

export interface ToolFields {
  readonly tools?: readonly object[]
  readonly tool_choice?: Readonly<Record<string, unknown>>
}

/** `budget` is undefined if the model does not support strict tools. */
export function toolFields(plan: ToolPlan, turns: readonly Turn[], budget: StrictBudget | undefined): ToolFields {
  if (plan.tools.length === 0) return pastTools(turns)
  const tools = plan.tools.map((tool) => toolOf(tool, budget))
  const choice = choiceOf(plan)
  return choice === undefined ? { tools } : { tools, tool_choice: choice }
}

/**
 * Adds a tool whose input is the structured response, for a schema that the vendor cannot enforce. `mayForce`: whether a tool
 * call may be forced.
 */
export function withAnswerTool(
  plan: ToolPlan,
  format: Extract<Format, { kind: 'schema' }>,
  budget: StrictBudget | undefined,
  mayForce: boolean,
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
  // A call cannot be forced while the model thinks, so only the tool's description asks for it.
  if (!mayForce) return { name, tools, tool_choice: { type: 'auto', ...one } }
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
  const enforced = strict === true && budget?.takeTool(given) === true
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: objectSchema(enforced ? strictSchema(given) : schema),
    ...(enforced && { strict: true }),
    ...(isRecord(raw['cache_control']) && { cache_control: raw['cache_control'] }),
  }
}

const noParameters = { type: 'object', properties: {} }

/** The schema, with the type `object`, which the API requires. */
function objectSchema(schema: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  const plain = withoutSchemaChoice(schema)
  return plain['type'] === 'object' ? plain : { ...plain, type: 'object' }
}

/** The API requires a declaration of every tool in the conversation, even if none may be called now. */
function pastTools(turns: readonly Turn[]): ToolFields {
  const names = new Set(turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ name }) => name) : [])))
  if (names.size === 0) return {}
  return { tools: [...names].map((name) => ({ name, input_schema: objectSchema() })), tool_choice: { type: 'none' } }
}
