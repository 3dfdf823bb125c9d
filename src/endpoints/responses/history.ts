/** The whole conversation a request speaks of: what is kept of earlier turns, and what the client sends. */
import { GatewayError, invalid } from '../../errors.ts'
import type { InputItem } from '../../wire/responses.ts'
import { kindOf } from './items.ts'
import type { Shelf } from './keep.ts'

export interface Conversation {
  /** All items, oldest first, none of them a reference. */
  readonly items: readonly InputItem[]
  /** How many of them were known before this request. */
  readonly earlier: number
  /** Whether the items are those of the request, unchanged. */
  readonly asSent: boolean
}

/**
 * A response is continued with its input and output, never with its instructions. Ids are looked up in what the caller
 * itself has stored: they never reach a vendor. What they bring may be of `mostBytes` as JSON.
 */
export async function conversationOf(
  sent: readonly InputItem[],
  previous: string | null | undefined,
  shelf: Shelf,
  mostBytes: number,
): Promise<Conversation> {
  const earlier = previous ? await turnsBefore(previous, shelf) : []
  const refers = sent.some(isReference)
  const items = refers ? await resolved(sent, shelf, mostBytes) : sent
  return { items: [...earlier, ...items], earlier: earlier.length, asSent: earlier.length === 0 && !refers }
}

async function turnsBefore(id: string, shelf: Shelf): Promise<readonly InputItem[]> {
  const kept = await shelf.find(id)
  if (kept === undefined) {
    throw new GatewayError('previous_response_not_found', {
      param: 'previous_response_id',
      message: `Previous response with id '${id.slice(0, 128)}' not found.`,
    })
  }
  const { object, output } = kept.response
  // A compaction stands for what came before it.
  return [...(object === 'response.compaction' ? [] : kept.input), ...(output as readonly InputItem[])]
}

async function resolved(sent: readonly InputItem[], shelf: Shelf, mostBytes: number): Promise<InputItem[]> {
  const found = await lookUp(referencesIn(sent), shelf, mostBytes)
  return sent.map((item) => (isReference(item) ? (found.get(item.id as string) as InputItem) : item))
}

function isReference(item: InputItem): boolean {
  return kindOf(item) === 'item_reference'
}

/** The ids that are referred to, each with its place in the input. */
function referencesIn(sent: readonly InputItem[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  for (const [index, item] of sent.entries()) {
    if (!isReference(item)) continue
    const id = item.id as string
    // A few bytes that stand for megabytes could so stand for any number of them.
    if (places.has(id)) throw unusable(id, 'stands in the input more than once', index)
    places.set(id, index)
  }
  return places
}

/** A stored response may hold many of the items, and be large: it is read once for all of them. */
async function lookUp(
  places: ReadonlyMap<string, number>,
  shelf: Shelf,
  mostBytes: number,
): Promise<ReadonlyMap<string, InputItem>> {
  const found = new Map<string, InputItem>()
  let bytes = 0
  for (const [id, index] of places) {
    if (found.has(id)) continue
    for (const item of await shelf.itemsBeside(id)) {
      if (typeof item.id !== 'string' || !places.has(item.id) || found.has(item.id)) continue
      found.set(item.id, item)
      bytes += JSON.stringify(item).length
      if (bytes > mostBytes) throw new GatewayError('context_length_exceeded')
    }
    if (!found.has(id)) throw unusable(id, 'not found', index)
  }
  return found
}

function unusable(id: string, why: string, index: number): GatewayError {
  return invalid(`Item with id '${id.slice(0, 128)}' ${why}.`, `input[${index}].id`)
}
