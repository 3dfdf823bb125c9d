/** Conversion of tools to those of a chat. */
import { GatewayError } from '../../../errors.ts'
import type { Tool, ToolChoice } from '../../../wire/chat.ts'
import type { ResponseRequest, ResponseTool, ResponseToolChoice } from '../../../wire/responses.ts'
import { chatNameOf } from '../../tool-names.ts'

/** How a client identifies a tool. */
export interface ToolIdentity {
  readonly kind: 'function' | 'custom'
  readonly name: string
  readonly namespace?: string
}

/** The field of the text in the arguments of a custom tool. */
export const customField = 'input'

/**
 * The tools of a request in the form of a chat. Groups are flattened, and custom tools become functions with one text
 * argument; `identityOf` reverses that. Tools that run at a vendor are omitted, because clients offer them to every
 * model.
 */
export class ChatTools {
  readonly tools: Tool[] = []
  readonly #identities = new Map<string, ToolIdentity>()
  /** Names in the chat, by kind and name of the tool, with and without its group. */
  readonly #chatNames = new Map<string, string>()

  constructor(tools: readonly ResponseTool[]) {
    for (const tool of tools) {
      if (tool.type === 'namespace') for (const inner of tool.tools ?? []) this.#add(inner, tool.name)
      else this.#add(tool, undefined)
    }
  }

  /** The tool with this name in the chat. An unknown name, invented by the model, is taken for a function. */
  identityOf(chatName: string): ToolIdentity {
    return this.#identities.get(chatName) ?? { kind: 'function', name: chatName }
  }

  /**
   * The tool choice for the chat, and the tools that it allows. Throws 400 for a choice that the tools do not allow.
   */
  choose(choice: ResponseRequest['tool_choice']): {
    readonly tools: readonly Tool[]
    readonly choice: ToolChoice | undefined
  } {
    const { tools } = this
    if (choice === undefined || choice === null) return { tools, choice: undefined }
    if (typeof choice === 'string') {
      if (choice === 'required' && tools.length === 0) throw impossible('requires a tool that this model can call')
      return { tools, choice: tools.length === 0 ? undefined : choice }
    }
    if (choice.type === 'allowed_tools') return this.#allowed(choice)
    const chosen = this.#find(choice)
    if (chosen === undefined) throw impossible('must name a tool in "tools" that this model can call')
    return { tools, choice: { type: 'function', function: { name: chosen } } }
  }

  /** Tools outside the allowed list are not sent to the model, because a chat cannot enforce the list. */
  #allowed(choice: Exclude<ResponseToolChoice, string>) {
    const { mode = 'auto', tools: listed = [] } = choice as { mode?: 'auto' | 'required'; tools?: ResponseTool[] }
    const names = new Set(listed.map((each) => this.#find(each)))
    const tools = this.tools.filter((tool) => names.has(tool.function?.name))
    if (mode === 'required' && tools.length === 0) throw impossible('must allow a tool that this model can call')
    return { tools, choice: tools.length === 0 ? undefined : mode }
  }

  #find({ type, name, namespace }: { type: string; name?: string; namespace?: unknown }): string | undefined {
    return this.#chatNames.get(keyOf(type, name, namespace))
  }

  #add(tool: ResponseTool, namespace: string | undefined): void {
    const { type, name, description, parameters, strict } = tool
    if (name === undefined || (type !== 'function' && type !== 'custom')) return
    const chatName = chatNameOf(name, namespace)
    this.#identities.set(chatName, { kind: type, name, ...(namespace !== undefined && { namespace }) })
    const alone = keyOf(type, name, undefined)
    if (!this.#chatNames.has(alone)) this.#chatNames.set(alone, chatName)
    this.#chatNames.set(keyOf(type, name, namespace), chatName)
    const described = type === 'custom' ? customDescription(tool) : description
    this.tools.push({
      type: 'function',
      function: {
        name: chatName,
        ...(described && { description: described }),
        parameters: type === 'custom' ? customParameters : (parameters ?? { type: 'object', properties: {} }),
        ...(type === 'function' && typeof strict === 'boolean' && { strict }),
      },
    })
  }
}

function keyOf(kind: string, name: string | undefined, namespace: unknown): string {
  return JSON.stringify(namespace === undefined ? [kind, name] : [kind, name, namespace])
}

const customParameters = {
  type: 'object',
  properties: { [customField]: { type: 'string' } },
  required: [customField],
  additionalProperties: false,
}

/** The description of a custom tool. Contains its grammar, which a chat cannot enforce. */
function customDescription({ description, format }: ResponseTool): string {
  const { syntax, definition } = Object(format) as { syntax?: string; definition?: string }
  const grammar = definition === undefined ? '' : `The input must follow this ${syntax ?? ''} grammar:\n${definition}`
  return [description ?? '', grammar].filter((text) => text !== '').join('\n\n')
}

function impossible(why: string): GatewayError {
  return new GatewayError('unsupported_value', { param: 'tool_choice', message: `"tool_choice" ${why}.` })
}
