/** Finds what in a conversation costs the host or reaches its account, by the types of its items, blocks and parts. */
import {
  chatConversation,
  messageConversation,
  responseConversation,
  type ConversationTypes,
} from '../providers/costs/conversation.ts'

/** What to do with what is found. Throws for what the model does not allow. */
export interface Finds {
  /** `name`: what allows it. */
  readonly typed: (place: string, type: string, name: string) => void
  readonly file: (place: string) => void
  readonly tool: (tool: unknown, place: string) => void
}

/** Members with data of the client's own tools, whose objects have types of their own, and those that only mention something. */
const opaque: ReadonlySet<string> = new Set([
  'arguments',
  'input',
  'parameters',
  'input_schema',
  'output_schema',
  'schema',
  'attributes',
  'env',
  'metadata',
  'trigger',
  'caller',
  'annotations',
])

/** Members that define tools, in whatever they are. */
const defining: ReadonlySet<string> = new Set(['tools', 'tool', 'definition'])

const fileId = /^file[_-]?id$/i

/** Whether none of these types needs a look at what has it. They have `file_id` if a member has that name. */
function areHarmless(found: Iterable<string>, { types }: ConversationTypes): boolean {
  for (const type of found) {
    const kind = types.get(type)
    if (kind !== 'harmless' && kind !== 'files') return false
  }
  return true
}

/** Looks through a value, whose `place` in the request is such as `messages`. */
export function searchConversation(root: unknown, place: string, { types }: ConversationTypes, finds: Finds): void {
  /** `defines`: tools. `isFile`: the object around it may refer to a file. */
  const visit = (value: unknown, at: string, defines: boolean, isFile: boolean): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      value.forEach((each, index) => visit(each, `${at}[${index}]`, defines, isFile))
      return
    }
    const members = Object.entries(value)
    const typed = members.filter(([name]) => isType(name))
    const kinds = typed.map(([, type]) => types.get(type as string))
    if (defines && !kinds.some((kind) => kind !== undefined)) return finds.tool(value, at)
    const mayBeFile = kinds.includes('files') || (isFile && kinds.length === 0)
    for (const [index, [name, type]] of typed.entries()) {
      const kind = kinds[index] ?? type
      if (typeof kind === 'string' && !passing.has(kind)) finds.typed(`${at}.${name}`, String(type), kind)
    }
    for (const [name, member] of members) {
      if (mayBeFile && fileId.test(name) && member !== null) finds.file(`${at}.${name}`)
      if (!opaque.has(name)) visit(member, `${at}.${name}`, defining.has(name), mayBeFile)
    }
  }
  visit(root, place, false, false)
}

/** Kinds that need no permission for what is of that type. */
const passing: ReadonlySet<string> = new Set(['harmless', 'files', 'tools'])

/** A request, of which as little is parsed as possible. */
export interface Searched {
  readonly field: (name: string) => unknown
  /** The members named `type` inside a field; undefined if they are not known without parsing it. */
  readonly typesWithin?: ((name: string) => ReadonlySet<string> | undefined) | undefined
  /** The values of fields with what the gateway adds to them, such as earlier turns. */
  readonly content?: (() => Readonly<Record<string, unknown>>) | undefined
}

/** The value of a field to search; undefined if it has harmless types only. */
export function valueToSearch(
  name: string,
  { field, typesWithin, content }: Searched,
  format: ConversationTypes,
): unknown {
  const added = content?.()[name]
  if (added !== undefined) return added
  const types = typesWithin?.(name)
  return types !== undefined && areHarmless(types, format) ? undefined : field(name)
}

const formats = [chatConversation, responseConversation, messageConversation]
const anyFormat: ConversationTypes = {
  fields: [...new Set(formats.flatMap(({ fields }) => fields))],
  types: new Map(formats.flatMap(({ types }) => [...types])),
}

/** Whether the conversation of a request in any format defines tools of which `isVendors`, or has what runs at the vendor. */
export function definesTools(searched: Searched, isVendors: (tool: unknown) => boolean): boolean {
  let defines = false
  const finds: Finds = {
    typed: () => void (defines = true),
    file: () => undefined,
    tool: (tool) => void (defines ||= isVendors(tool)),
  }
  for (const name of anyFormat.fields) {
    searchConversation(valueToSearch(name, searched, anyFormat), name, anyFormat, finds)
  }
  return defines
}

/** Whether a value refers to a file of the host's account. */
export function refersToFile(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => (fileId.test(name) && member !== null) || refersToFile(member))
}

/** Whether a member is a type, also for parsers that ignore case. */
export function isType(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'type'
}
