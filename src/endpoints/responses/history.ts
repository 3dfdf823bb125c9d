/** The complete conversation of a request: stored earlier turns, and the items that the client sends. */
import { GatewayError, invalid } from '../../errors.ts'
import type { InputItem } from '../../wire/responses.ts'
import { kindOf } from './items.ts'
import type { ResponseArchive } from './archive.ts'

export interface ResponseConversation {
  /** All items, oldest first, with references resolved. */
  readonly items: readonly InputItem[]
  /** How many of them come from earlier turns. */
  readonly earlier: number
  /** Whether the items are exactly those of the request. */
  readonly asSent: boolean
}

/**
 * Resolves references, among the caller's stored responses only; ids never reach a vendor. `earlier`: the items before those
 * that are sent. Throws 400 for an unknown or repeated reference, or if the referenced items exceed `maxBytes` as JSON. `field`: where
 * they are in the request.
 */
export async function conversationOf(
  sent: readonly InputItem[],
  earlier: readonly InputItem[],
  archive: ResponseArchive,
  maxBytes: number,
  field = 'input',
): Promise<ResponseConversation> {
  const refers = sent.some(isReference)
  const items = refers ? await resolved(sent, archive, maxBytes, field) : sent
  return { items: [...earlier, ...items], earlier: earlier.length, asSent: earlier.length === 0 && !refers }
}

async function resolved(
  sent: readonly InputItem[],
  archive: ResponseArchive,
  maxBytes: number,
  field: string,
): Promise<InputItem[]> {
  const found = await lookUp(referencesIn(sent, field), archive, maxBytes)
  return sent.map((item) => (isReference(item) ? (found.get(item.id as string) as InputItem) : item))
}

function isReference(item: InputItem): boolean {
  return kindOf(item) === 'item_reference'
}

/** The referenced ids, each with its place in the request. */
function referencesIn(sent: readonly InputItem[], field: string): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  for (const [index, item] of sent.entries()) {
    if (!isReference(item)) continue
    const id = item.id as string
    // A short reference to a large item, repeated, would expand without limit.
    const place = `${field}[${index}].id`
    if (places.has(id)) throw unusable(id, 'is referenced more than once', place)
    places.set(id, place)
  }
  return places
}

/** Reads each stored response once, even if it contains several of the items. */
async function lookUp(
  places: ReadonlyMap<string, string>,
  archive: ResponseArchive,
  maxBytes: number,
): Promise<ReadonlyMap<string, InputItem>> {
  const found = new Map<string, InputItem>()
  let bytes = 0
  for (const [id, place] of places) {
    if (found.has(id)) continue
    for (const item of await archive.itemsWith(id)) {
      if (typeof item.id !== 'string' || !places.has(item.id) || found.has(item.id)) continue
      found.set(item.id, item)
      bytes += JSON.stringify(item).length
      if (bytes > maxBytes) throw new GatewayError('context_length_exceeded')
    }
    if (!found.has(id)) throw unusable(id, 'not found', place)
  }
  return found
}

function unusable(id: string, why: string, place: string): GatewayError {
  return invalid(`Item with id '${id.slice(0, 128)}' ${why}.`, place)
}
