/** What a vendor of another wire format does not get of a request. */
import type { Conversation, FormatName, OwnTool } from '../../conversation/conversation.ts'
import { refusedValue } from '../../errors.ts'
import type { AskedFormat } from '../../formats/format.ts'
import { sayable } from '../../formats/tools.ts'
import type { Own } from '../../conversation/own.ts'
import { isRecord, type Fields } from '../../wire/json.ts'

/** Names the fields of a request that are not among these, unless their value says nothing. */
export function tellUnsaid(
  request: Fields,
  covered: ReadonlySet<string>,
  more: ReadonlySet<string> | undefined,
  omit: (name: string) => void,
): void {
  for (const [name, value] of Object.entries(request)) {
    if (covered.has(name) || more?.has(name) === true) continue
    if (value === null || value === undefined || value === 'disabled') continue
    if (typeof value !== 'object' || Object.keys(value).length > 0) omit(name)
  }
}

/** Fields of turns, blocks and tools that only one format has, and that clients mean. */
const meant: { readonly [Name in FormatName]?: readonly string[] } = {
  chat: ['audio', 'name'],
  messages: ['citations', 'input_examples', 'defer_loading', 'allowed_callers'],
}

interface Node {
  readonly kind?: string
  readonly place?: string | undefined
  readonly own?: Own | undefined
  readonly blocks?: readonly Node[]
}

/** Names the fields of turns, blocks and tools that a vendor of the wire `format` does not get. */
export function tellOwnFields(nodes: readonly Node[], format: AskedFormat, omit: (place: string) => void): void {
  for (const { place, own, blocks } of nodes) {
    if (blocks !== undefined) tellOwnFields(blocks, format, omit)
    if (own === undefined || place === undefined) continue
    for (const [owner, names] of Object.entries(meant) as [FormatName, readonly string[]][]) {
      const fields = owner === format ? undefined : own[owner]
      if (fields === undefined) continue
      // The place of a document is that of its source.
      for (const name of names) if (says(fields[name])) omit(`${place.replace(/\.source$/, '')}.${name}`)
    }
  }
}

function says(value: unknown): boolean {
  return Boolean(value) && !(isRecord(value) && value['enabled'] === false)
}

/** Throws 400 for a tool of the client's server (MCP), which no other wire than its own has. `model`: its public name. */
export function refuseServers({ tools }: Conversation, format: AskedFormat, model: string): void {
  for (const tool of tools) {
    if (tool.kind === 'function' || tool.format === format || !tool.type.startsWith('mcp')) continue
    const { place = 'tools', type } = tool
    const message = `The model "${model}" does not support the tool "${type}" of "${place}". Remove it.`
    throw refusedValue(message, place)
  }
}

/**
 * Throws 400 where the vendor has none of the tools that the client offers: without any, a model makes up what a tool would have
 * found. `model`: its public name.
 */
export function requireSomeTool({ tools, toolChoice }: Conversation, format: AskedFormat, model: string): void {
  if (tools.length === 0 || toolChoice === 'none' || tools.some((tool) => sayable(tool, format) !== undefined)) return
  const types = [...new Set(tools.map((tool) => `"${(tool as OwnTool).type}"`))].slice(0, 5).join(', ')
  const message = `The model "${model}" has none of the tools in "tools" (${types}). Remove them, or use another model.`
  throw refusedValue(message, 'tools')
}
