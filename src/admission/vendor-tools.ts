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
  set: Model['set'] = {},
): boolean {
  if (model.deployments.some(({ model: name }) => runsToolsItself.test(name))) return true
  const allowed = model.allow ?? model.deployments.flatMap(({ allow = [] }) => allow)
  // Otherwise fields with which vendors run tools are rejected.
  if (allowed.length === 0 && Object.keys(set).length === 0 && !isUnguarded(model)) return false
  const read: Field = (name) => set[name] ?? order.field(name)
  const tools = read('tools')
  if (Array.isArray(tools) && tools.some(isVendorTool)) return true
  return toolFields.some((name) => isSet(read(name))) || definesTools(order, isVendorTool)
}

/** Whether a provider does not say which fields change its cost, so that nothing is rejected. */
function isUnguarded({ deployments }: Model): boolean {
  return deployments.some(({ provider }) => provider.costs === undefined)
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
