/** Which tools a model may get and call. */
import type { Conversation, Tool } from '../conversation/conversation.ts'
import { matches } from '../records/pattern.ts'
import { checkKnown, oneOf, texts, type Known } from '../records/known-options.ts'
import type { Inspector } from './contract.ts'

/** Options of `limitTools`. */
export interface ToolLimits {
  /** Names of functions, and kinds of hosted tools such as `web_search`, each of which may end in `*`. Default: all. */
  readonly allow?: readonly string[]
  /** Those that are not allowed, although `allow` has them. Default: none. */
  readonly deny?: readonly string[]
  /** What happens to a request with another tool: it goes without the tool (the default), or is refused. */
  readonly others?: 'remove' | 'refuse'
}

const known: Known<ToolLimits> = { allow: texts, deny: texts, others: oneOf('remove', 'refuse') }

/**
 * An inspector of the tools that a model gets. An answer that calls another one all the same ends there. Throws a `TypeError` for
 * an invalid option.
 *
 * @example
 * createGateway({ models, groups: { guests: { models: '*', inspect: [limitTools({ allow: ['search*'] })] } } })
 */
export function limitTools(options: ToolLimits): Inspector {
  checkKnown('limitTools', options, known)
  const { allow = ['*'], deny = [], others = 'remove' } = options
  const mayUse = (name: string) => isIn(allow, name) && !isIn(deny, name)
  return {
    name: 'limitTools',
    request(conversation) {
      const allowed = conversation.tools.filter((tool) => mayUse(nameOf(tool)))
      if (allowed.length === conversation.tools.length) return undefined
      const refused = conversation.tools.find((tool) => !allowed.includes(tool)) as Tool
      if (others === 'refuse') return { refuse: `The tool "${nameOf(refused)}" is not allowed.` }
      return { conversation: withTools(conversation, allowed), reversible: true }
    },
    answer({ tool }) {
      return tool === undefined || mayUse(tool) ? { hold: 0 } : { cut: `The tool "${tool}" is not allowed.` }
    },
  }
}

function isIn(names: readonly string[], name: string): boolean {
  return names.some((each) => matches(each, name))
}

function withTools({ toolChoice, ...conversation }: Conversation, tools: readonly Tool[]): Conversation {
  const names = tools.map(nameOf)
  const isKept = typeof toolChoice === 'object' ? names.includes(toolChoice.name) : tools.length > 0
  return toolChoice !== undefined && isKept ? { ...conversation, tools, toolChoice } : { ...conversation, tools }
}

function nameOf(tool: Tool): string {
  if (tool.kind === 'function') return tool.name
  const { name } = tool.value
  return typeof name === 'string' ? name : tool.type
}
