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
 * itself has stored: they never reach a vendor.
 */
export async function conversationOf(
  sent: readonly InputItem[],
  previous: string | null | undefined,
  shelf: Shelf,
): Promise<Conversation> {
  const earlier = previous ? await turnsBefore(previous, shelf) : []
  const refers = sent.some((item) => kindOf(item) === 'item_reference')
  const items = refers ? await resolved(sent, shelf) : sent
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
  return [...kept.input, ...(kept.response.output as readonly InputItem[])]
}

async function resolved(sent: readonly InputItem[], shelf: Shelf): Promise<InputItem[]> {
  const items: InputItem[] = []
  for (const [index, item] of sent.entries()) {
    if (kindOf(item) !== 'item_reference') {
      items.push(item)
      continue
    }
    const found = await shelf.item(item.id as string)
    if (found === undefined)
      throw invalid(`Item with id '${(item.id as string).slice(0, 128)}' not found.`, `input[${index}].id`)
    items.push(found)
  }
  return items
}
