import type { Call } from '../../providers/contract.ts'
import type { InputItem, ResponseRequest } from '../../wire/responses.ts'
import { amend } from '../order.ts'
import { kindOf } from './items.ts'
import type { ResponseOrder } from './request.ts'
import { unsealedItem } from './seal-items.ts'

const encryptedReasoning = 'reasoning.encrypted_content'

/**
 * The call for a vendor that has a responses endpoint: the complete conversation with `store: false`, and no ids of
 * responses or items. The vendor stores nothing, so no caller can access data of another caller or of the operator
 * there, and a deleted response is deleted everywhere. In exchange, encrypted reasoning must be sent along. `maker`:
 * the vendor's name in envelopes.
 */
export function stateless(
  call: Call<ResponseRequest>,
  { conversation, field, derived }: ResponseOrder,
  maker: string,
): Call<ResponseRequest> {
  const changes: Record<string, unknown> = {}
  if (field('store') !== false) changes['store'] = false
  if (field('previous_response_id') !== undefined) changes['previous_response_id'] = undefined
  for (const name of ['background', 'conversation']) if (field(name) !== undefined) changes[name] = undefined
  const include = (field('include') ?? []) as readonly string[]
  if (!include.includes(encryptedReasoning)) changes['include'] = [...include, encryptedReasoning]
  const items = readable(conversation.items, maker)
  if (items !== conversation.items || !conversation.asSent) changes['input'] = items
  derived.push(changes)
  return amend(call, changes)
}

/** The items that the vendor can read, without ids; the same list if nothing has to change. */
function readable(items: readonly InputItem[], maker: string): readonly InputItem[] {
  const own = items.map((item) => unsealedItem(item, maker))
  const kept = followed(own.filter((item) => item !== undefined))
  if (kept.length === items.length && own.every((item, index) => item === items[index]) && !items.some(hasId))
    return items
  return kept.map(withoutId)
}

/** Without reasoning that no item of the model follows, as in a conversation that was cut: vendors reject it. */
function followed(items: readonly InputItem[]): readonly InputItem[] {
  const kept: InputItem[] = []
  let follows = false
  for (const item of items.toReversed()) {
    const kind = kindOf(item)
    if (kind !== 'reasoning') follows = kind === 'message' ? item.role === 'assistant' : !kind.endsWith('_output')
    else if (!follows) continue
    kept.push(item)
  }
  return kept.toReversed()
}

function withoutId(item: InputItem): InputItem {
  const { id: _, ...rest } = item
  return rest
}

function hasId({ id }: InputItem): boolean {
  return id !== undefined && id !== null
}
