/** Tools in groups, whose names are those of the group and the tool. */
import type { Fields, FunctionTool, Tool } from '../../conversation/conversation.ts'

/** The name of a tool that stands in a group. */
export function nameIn(namespace: unknown, name: string): string {
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}__${name}` : name
}

/** The name of the tool in its group. */
export function innerName(namespace: unknown, name: string): string {
  return typeof namespace === 'string' && name.startsWith(`${namespace}__`) ? name.slice(namespace.length + 2) : name
}

/** The function as which a model calls a tool; undefined if it cannot. */
export function callable(tool: Tool): FunctionTool | undefined {
  return tool.kind === 'function' ? tool : tool.instead
}

/** The group of a tool, without its tools; undefined if it stands alone. */
export function groupOf(tool: Tool): Fields | undefined {
  return callable(tool)?.own?.responses?.['group'] as Fields | undefined
}

/** The name that the client has given to a tool. */
export function ownName(tool: FunctionTool): string {
  return innerName(groupOf(tool)?.['name'], tool.name)
}
