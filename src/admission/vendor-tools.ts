/** Requests that make the vendor run tools of its own. */
import { definesTools } from '../models/conversation-guard.ts'
import type { Model } from '../models/contract.ts'
import type { EstimatedRequest } from './estimate.ts'
import { positive, type Field } from './output-length.ts'

/** Fields with which a request makes the vendor run tools. */
const toolFields = [
  'web_search_options',
  'search_parameters',
  'enable_search',
  'enable_code_interpreter',
  'plugins',
  'mcp_servers',
  'models',
  'compound_custom',
  'search_settings',
]

/** The limit that the host sets, or the client's, which vendors read only in requests to the responses endpoint. */
export function statedToolCalls(field: Field, set: Model['set'] = {}): number | undefined {
  return positive(set['max_tool_calls'] ?? (field('messages') === undefined ? field('max_tool_calls') : undefined))
}

/** Models that run tools in every request. */
const runsToolsItself = /:online|deep-research/i

/** Whether a request may make the vendor run tools of its own. `set`: the fields that the host sets. */
export function runsVendorTools(
  { order, model }: Pick<EstimatedRequest, 'model' | 'order'>,
  set: Model['set'] | undefined,
): boolean {
  const runs = runsOf(model)
  if (runs === 'always') return true
  if (runs === 'never' && set === undefined) return false
  const read: Field = (name) => set?.[name] ?? order.field(name)
  const tools = read('tools')
  if (Array.isArray(tools) && tools.some(isVendorTool)) return true
  return toolFields.some((name) => isSet(read(name))) || definesTools(order, isVendorTool)
}

/** When a model's vendors run tools, whatever the host sets. */
type Runs = 'always' | 'if asked' | 'never'

const known = new WeakMap<Model, Runs>()

function runsOf(model: Model): Runs {
  let runs = known.get(model)
  if (runs === undefined) known.set(model, (runs = findRuns(model)))
  return runs
}

function findRuns({ allow, deployments }: Model): Runs {
  if (deployments.some(({ model }) => runsToolsItself.test(model))) return 'always'
  const allowed = allow ?? deployments.flatMap((each) => each.allow ?? [])
  // Otherwise fields with which vendors run tools are rejected. A provider that does not say which fields change its cost
  // rejects none.
  const isAsked = allowed.length > 0 || deployments.some(({ provider }) => provider.costs === undefined)
  return isAsked ? 'if asked' : 'never'
}

function isVendorTool(tool: unknown): boolean {
  const { type, tools } = Object(tool) as { type?: unknown; tools?: unknown }
  if (type === 'namespace') return Array.isArray(tools) && tools.some(isVendorTool)
  if (type === undefined || type === null || type === 'function' || type === 'custom') return false
  return typeof type !== 'string' || !clientTool.test(type)
}

/** Anthropic's names of tools that the client runs. */
const clientTool = /^(?:bash|text_editor|computer|memory|tool_search_tool_(?:bm25|regex))_\d{8}$/

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}
