/**
 * Tools that run at the vendor, from one wire format to another. Sources: OpenAI's Responses, Anthropic's web search, web fetch
 * and code execution, and Google's grounding, URL context and code execution.
 */
import type { Conversation, FormatName, OwnTool, Tool } from '../conversation/conversation.ts'
import { fieldsOf, isRecord, itemsOf, type Fields } from '../wire/json.ts'
import type { AskedFormat } from './format.ts'

type Kind = 'search' | 'fetch' | 'code'

/** What several vendors can be told about a tool. */
interface Hosted {
  readonly kind: Kind
  readonly domains?: readonly unknown[] | undefined
  readonly blocked?: readonly unknown[] | undefined
  /** City, region, country and time zone, in the names that OpenAI and Anthropic share. */
  readonly location?: Fields | undefined
}

/** The names in a model's `allow` that permit a tool. */
const permissions: Readonly<Record<Kind, readonly string[]>> = {
  search: ['web_search'],
  fetch: ['web_fetch'],
  code: ['code_execution', 'code_interpreter'],
}

/** In chats, OpenAI's field for searches takes the place of a tool. */
const searchField = 'web_search_options'

/**
 * The conversation with the tools that run at the vendor in the form of its format, as far as it has them. The others stay as
 * they are, and the format tells that it leaves them out. `allow`: see `Model.allow`; other tools are not translated.
 */
export function withHostedTools(
  conversation: Conversation,
  format: AskedFormat,
  allow: readonly string[],
): Conversation {
  if (allow.length === 0 || format === 'generate' || format === 'interactions') return conversation
  const { [searchField]: options, ...chat } = conversation.own?.chat ?? {}
  const asked: readonly Tool[] = isRecord(options)
    ? [...conversation.tools, { kind: 'own', format: 'chat', type: searchField, value: options }]
    : conversation.tools
  const tools = asked.map((tool) => hostedAs(tool, format, allow) ?? tool)
  if (tools.every((tool, index) => tool === conversation.tools[index])) return conversation
  // What stays a field of the chat is refused by its name.
  if (tools.at(-1)?.kind === 'own' && (tools.at(-1) as OwnTool).type === searchField) return conversation
  return isRecord(options) ? { ...conversation, tools, own: { ...conversation.own, chat } } : { ...conversation, tools }
}

/** Undefined for a tool that is not one of these, is not permitted, or that the vendor lacks. */
function hostedAs(tool: Tool, format: FormatName, allow: readonly string[]): OwnTool | undefined {
  if (tool.kind === 'function' || tool.format === format) return undefined
  const hosted = readers[tool.format](tool.type, tool.value)
  if (hosted === undefined || !permissions[hosted.kind].some((name) => allow.includes(name))) return undefined
  const value = writers[format]?.(hosted)
  if (value === undefined) return undefined
  const type = typeof value['type'] === 'string' ? value['type'] : (Object.keys(value)[0] ?? '')
  return { kind: 'own', format, type, value, place: tool.place }
}

const readers: Readonly<Record<FormatName, (type: string, value: Fields) => Hosted | undefined>> = {
  chat(type, { user_location: place }) {
    if (type !== searchField) return undefined
    return hosted('search', undefined, undefined, fieldsOf(place)['approximate'])
  },
  responses(type, { filters, user_location: location }) {
    if (type === 'code_interpreter') return { kind: 'code' }
    if (!/^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/.test(type)) return undefined
    return hosted('search', fieldsOf(filters)['allowed_domains'], undefined, location)
  },
  messages(type, { allowed_domains: domains, blocked_domains: blocked, user_location: location }) {
    const name = /^(web_search|web_fetch|code_execution)_\d{8}$/.exec(type)?.[1]
    if (name === undefined) return undefined
    if (name === 'code_execution') return { kind: 'code' }
    return hosted(name === 'web_search' ? 'search' : 'fetch', domains, blocked, location)
  },
  gemini(type) {
    if (type === 'googleSearch' || type === 'google_search') return { kind: 'search' }
    if (type === 'urlContext' || type === 'url_context') return { kind: 'fetch' }
    return type === 'codeExecution' || type === 'code_execution' ? { kind: 'code' } : undefined
  },
}

const writers: { readonly [Name in FormatName]?: (tool: Hosted) => Fields | undefined } = {
  responses({ kind, domains, blocked, location }) {
    if (kind === 'code') return { type: 'code_interpreter', container: { type: 'auto' } }
    if (kind === 'fetch' || blocked !== undefined) return undefined
    return {
      type: 'web_search',
      filters: domains && { allowed_domains: domains },
      user_location: location && { type: 'approximate', ...location },
    }
  },
  messages({ kind, domains, blocked, location }) {
    if (kind === 'code') return { type: 'code_execution_20250825', name: 'code_execution' }
    const [type, name] = kind === 'search' ? ['web_search_20250305', 'web_search'] : ['web_fetch_20250910', 'web_fetch']
    return {
      type,
      name,
      allowed_domains: domains,
      blocked_domains: blocked,
      user_location: kind === 'search' && location ? { type: 'approximate', ...location } : undefined,
    }
  },
  gemini({ kind, domains, blocked }) {
    // A search that must not leave some sites would leave them.
    if (domains !== undefined || blocked !== undefined) return undefined
    return kind === 'search' ? { googleSearch: {} } : kind === 'fetch' ? { urlContext: {} } : { codeExecution: {} }
  },
}

function hosted(kind: Kind, domains: unknown, blocked: unknown, location: unknown): Hosted {
  const { type: _, ...place } = fieldsOf(location)
  const isNamed = Object.keys(place).length > 0
  return { kind, domains: someOf(domains), blocked: someOf(blocked), location: isNamed ? place : undefined }
}

function someOf(list: unknown): readonly unknown[] | undefined {
  return itemsOf(list).length > 0 ? itemsOf(list) : undefined
}
