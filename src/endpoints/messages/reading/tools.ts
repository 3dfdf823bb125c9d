/** Reads tools and `tool_choice`, for vendors whose format is not Anthropic's. */
import { invalid } from '../../../errors.ts'
import type { MessageRequest, MessageTool } from '../../../wire/messages.ts'
import { chatNameOf } from '../../tool-names.ts'
import { knownTool } from './known-tools.ts'

/** A tool that the client runs. */
export interface ClientTool {
  /** At most 64 characters, as other vendors require. */
  readonly name: string
  readonly description?: string
  /** A JSON schema. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly cache?: unknown
}

/** The tools of a request, as far as other models can call them. */
export interface Tools {
  readonly tools: readonly ClientTool[]
  /** The types of tools that only run at Anthropic, or that only its models know. */
  readonly omitted: readonly string[]
  /** Absent if the client did not choose. */
  readonly use?: 'auto' | 'none' | 'required' | { readonly name: string }
  /** Whether an answer may have only one call. */
  readonly single: boolean
  /** The name that the client knows. */
  readonly clientName: (name: string) => string
}

const noTools: Tools = { tools: [], omitted: [], single: false, clientName: (name) => name }

/** `added`: tools that the conversation adds. Tools that run at Anthropic are left out, as agents offer them to every model. */
export function readTools({ tools, tool_choice: choice }: MessageRequest, added: readonly MessageTool[]): Tools {
  if (!tools?.length && added.length === 0) return noTools
  const own: ClientTool[] = []
  const omitted = new Set<string>()
  const clientNames = new Map<string, string>()
  for (const [index, tool] of [...(tools ?? []), ...added].entries()) {
    const { type, cache_control: cache } = tool
    const isOwn = type === undefined || type === null || type === 'custom'
    const known = isOwn ? undefined : knownTool(type)
    if (!isOwn && known === undefined) {
      omitted.add(type)
      continue
    }
    const { name = known?.name, description = known?.description, input_schema: schema = known?.schema } = tool
    if (typeof name !== 'string')
      throw invalid(`Missing required parameter: "tools[${index}].name".`, `tools[${index}].name`)
    const chatName = chatNameOf(name, undefined)
    if (clientNames.has(chatName)) continue
    clientNames.set(chatName, name)
    own.push({
      name: chatName,
      ...(typeof description === 'string' && description !== '' && { description }),
      schema: schema ?? { type: 'object', properties: {} },
      ...(typeof cache === 'object' && cache !== null && { cache }),
    })
  }
  const use = own.length === 0 ? undefined : useOf(choice, clientNames, omitted.size > 0)
  return {
    tools: own,
    omitted: [...omitted],
    ...(use !== undefined && { use }),
    single: own.length > 0 && choice?.disable_parallel_tool_use === true,
    clientName: (name) => clientNames.get(name) ?? name,
  }
}

/** `incomplete`: the tool that must be called may be one of those that were left out. */
function useOf(
  choice: MessageRequest['tool_choice'],
  names: ReadonlyMap<string, string>,
  incomplete: boolean,
): Tools['use'] {
  switch (choice?.type) {
    case 'auto':
    case 'none':
      return choice.type
    case 'any':
      return 'required'
    case 'tool': {
      const name = chatNameOf(choice.name ?? '', undefined)
      if (names.has(name)) return { name }
      if (incomplete) return undefined
      throw invalid('"tool_choice.name" must be the name of one of the "tools".', 'tool_choice.name')
    }
    default:
      return undefined
  }
}
