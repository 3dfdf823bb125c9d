/**
 * What a chat model needs to see again on the next turn, and no client understands: signatures, redacted thinking, the
 * reasoning itself. It travels as the `encrypted_content` of reasoning items. It is not secret from the caller, who
 * could read the same in a chat; it only has to come back as it was.
 */

export interface Carried {
  /** Fields of the assistant's message. */
  readonly message?: Readonly<Record<string, unknown>>
  /** Fields of its tool calls, by the id of the call. */
  readonly calls?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const mark = 'mh1.'

/** Where models leave it, in their messages and in their calls. */
const carried = new Set(['reasoning_details', 'extra_content', 'thinking_blocks'])
/** What is shown as reasoning is carried as well: some models want it back while they use tools. */
const shown = new Set(['reasoning', 'reasoning_content'])

export function carriedFields(told: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(told).filter(([name]) => carried.has(name)))
}

export function isOurs(opaque: string): boolean {
  return opaque.startsWith(mark)
}

export function pack(carried: Carried): string {
  return mark + Buffer.from(JSON.stringify(carried)).toString('base64url')
}

/** Nothing for the opaque data of others, and for our own when it was damaged. */
export function unpack(opaque: unknown): Carried {
  if (typeof opaque !== 'string' || !isOurs(opaque)) return {}
  try {
    const { message, calls } = JSON.parse(
      Buffer.from(opaque.slice(mark.length), 'base64url').toString('utf8'),
    ) as Carried
    const kept = Object.entries(Object(calls) as object).map(
      ([id, fields]) => [id, carriedFields(Object(fields) as object)] as const,
    )
    return { message: carriedOrShown(message), calls: Object.fromEntries(kept) }
  } catch {
    return {}
  }
}

/** Whatever a client made of it, nothing else gets into a message this way. */
function carriedOrShown(fields: unknown): Record<string, unknown> {
  const given = Object.entries(Object(fields) as object)
  return Object.fromEntries(given.filter(([name]) => carried.has(name) || shown.has(name)))
}

/** Two sets of fields as one: texts and lists are continued, anything else is replaced. */
export function continued(sofar: Record<string, unknown>, more: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(more)) {
    const before = sofar[name]
    if (value === null || value === undefined) continue
    if (typeof before === 'string' && typeof value === 'string') sofar[name] = before + value
    else if (Array.isArray(before) && Array.isArray(value))
      sofar[name] = [...(before as unknown[]), ...(value as unknown[])]
    else sofar[name] = value
  }
}
