/** Tools in groups, whose names are those of the group and the tool. */
import type { Conversation, Fields, FunctionTool, Tool } from '../../conversation/conversation.ts'
import { stage, type Stage } from '../stages/stage.ts'
import { callable } from '../tools.ts'

/** The name of a tool that stands in a group. */
export function nameIn(namespace: unknown, name: string): string {
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}__${name}` : name
}

/** The name of the tool in its group. */
export function innerName(namespace: unknown, name: string): string {
  return typeof namespace === 'string' && name.startsWith(`${namespace}__`) ? name.slice(namespace.length + 2) : name
}

/** The group of a tool, without its tools; undefined if it stands alone. */
export function groupOf(tool: Tool): Fields | undefined {
  return callable(tool)?.own?.responses?.['group'] as Fields | undefined
}

/** The name that the client has given to a tool. */
export function ownName(tool: FunctionTool): string {
  return innerName(groupOf(tool)?.['name'], tool.name)
}

/**
 * Turns calls of functions into those of the client's tools: in their groups, and as items of their own. Undefined if all
 * functions are the client's own.
 */
export function clientCalls({ tools }: Conversation): Stage | undefined {
  const identities = new Map<string, Fields>()
  for (const tool of tools) {
    const called = callable(tool)
    if (called === undefined) continue
    const namespace = groupOf(tool)?.['name']
    const call = called.own?.responses?.['call']
    if (namespace !== undefined) identities.set(called.name, { namespace })
    else if (call !== undefined) identities.set(called.name, { call })
  }
  if (identities.size === 0) return undefined
  return stage('call', (part) => {
    const identity = part.kind === 'call' ? identities.get(part.name) : undefined
    if (part.kind !== 'call' || identity === undefined) return [part]
    return [{ ...part, own: { ...part.own, responses: { ...part.own?.responses, ...identity } } }]
  })
}
