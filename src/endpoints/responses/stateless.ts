/**
 * The request as a vendor with a responses endpoint of its own gets it. Nothing is kept there: the gateway sends the
 * whole conversation with `store: false`, and no id of an earlier response or item. So no caller can reach what another
 * one, or the operator, has at the vendor, and a deleted response is gone. So the reasoning has to come along,
 * encrypted.
 */
import type { Call } from '../../providers/contract.ts'
import type { InputItem, ResponseRequest } from '../../wire/responses.ts'
import { amend } from '../order.ts'
import type { ResponseOrder } from './request.ts'
import { opened } from './sealing.ts'

const opaqueReasoning = 'reasoning.encrypted_content'

/** `maker` is the vendor's own name in envelopes. */
export function stateless(
  call: Call<ResponseRequest>,
  { conversation, field }: ResponseOrder,
  maker: string,
): Call<ResponseRequest> {
  const changes: Record<string, unknown> = {}
  if (field('store') !== false) changes['store'] = false
  if (field('previous_response_id') !== undefined) changes['previous_response_id'] = undefined
  if (field('background') !== undefined) changes['background'] = undefined
  const include = (field('include') ?? []) as readonly string[]
  if (!include.includes(opaqueReasoning)) changes['include'] = [...include, opaqueReasoning]
  const items = readable(conversation.items, maker)
  if (items !== conversation.items || !conversation.asSent) changes['input'] = items
  return amend(call, changes)
}

/** The same list where there is nothing to change. */
function readable(items: readonly InputItem[], maker: string): readonly InputItem[] {
  const kept = items.map((item) => opened(item, maker))
  if (kept.every((item, index) => item === items[index]) && !items.some(hasId)) return items
  return kept.filter((item) => item !== undefined).map(withoutId)
}

function withoutId(item: InputItem): InputItem {
  const { id: _, ...rest } = item
  return rest
}

function hasId({ id }: InputItem): boolean {
  return id !== undefined && id !== null
}
