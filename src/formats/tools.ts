/** What the formats share of tools, and of the names of calls. */
import { createHash, randomBytes } from 'node:crypto'
import type { Conversation, Fields, FunctionTool, OwnTool, Tool } from '../conversation/conversation.ts'
import type { AskedFormat } from './format.ts'
import { stage, type Stage } from './stages/stage.ts'

/** The tool as a format may say it: its own as it is, others as functions; undefined if there is no function for it. */
export function sayable(tool: Tool, format: AskedFormat): FunctionTool | OwnTool | undefined {
  return tool.kind === 'own' && tool.format !== format ? tool.instead : tool
}

/** The function as which a model calls a tool; undefined if it cannot. */
export function callable(tool: Tool): FunctionTool | undefined {
  return tool.kind === 'function' ? tool : tool.instead
}

/** The parameters of a function without any. */
export const noParameters: Fields = { type: 'object', properties: {} }

/** The schema of an object with these parameters. */
export function parameters(properties: Fields, required: readonly string[] = []): Fields {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

export function textParameter(description: string): Fields {
  return { type: 'string', description }
}

/** Whether the model must call a tool. */
export function isForced(choice: Conversation['toolChoice']): boolean {
  return choice !== undefined && choice !== 'auto' && choice !== 'none'
}

/** An id for a call to which the vendor has given none. */
export function newCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`
}

const longestName = 64

/** The name of a tool at vendors that allow 64 characters, in the list of tools and in calls. Long names end with a hash. */
export function shortName(name: string): string {
  if (name.length <= longestName) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, longestName - hash.length - 1)}_${hash}`
}

/** Turns short names back; undefined if no name is too long. */
export function longNames({ tools }: Conversation): Stage | undefined {
  const long = tools.flatMap((tool) => callable(tool)?.name ?? []).filter((name) => shortName(name) !== name)
  if (long.length === 0) return undefined
  const names = new Map(long.map((name) => [shortName(name), name]))
  return renamedCalls((name) => names.get(name) ?? name)
}

export function renamedCalls(rename: (name: string) => string): Stage {
  return stage('call', (part) => [part.kind === 'call' ? { ...part, name: rename(part.name) } : part])
}
