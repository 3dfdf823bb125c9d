/**
 * The request as a vendor with a responses endpoint of its own gets it. Nothing is kept there: the gateway sends the
 * whole conversation with `store: false`, and no id of an earlier response or item. So no caller can reach what another
 * one, or the operator, has at the vendor, and a deleted response is gone.
 */
import type { Call } from '../../providers/contract.ts'
import type { InputItem, ResponseRequest } from '../../wire/responses.ts'
import { amend } from '../order.ts'
import { isOurs } from './by-chat/opaque.ts'
import { kindOf } from './items.ts'
import type { ResponseOrder } from './request.ts'

export function stateless(call: Call<ResponseRequest>, { conversation, field }: ResponseOrder): Call<ResponseRequest> {
  const changes: Record<string, unknown> = {}
  if (field('store') !== false) changes['store'] = false
  if (field('previous_response_id') !== undefined) changes['previous_response_id'] = undefined
  if (field('background') !== undefined) changes['background'] = undefined
  const items = withoutIds(conversation.items)
  if (items !== conversation.items || !conversation.asSent) changes['input'] = items
  return amend(call, changes)
}

/** The same list where there is nothing to take away. */
function withoutIds(items: readonly InputItem[]): readonly InputItem[] {
  if (!items.some((item) => hasId(item) || isUnreadable(item))) return items
  return items.filter((item) => !isUnreadable(item)).map(withoutId)
}

function withoutId(item: InputItem): InputItem {
  const { id: _, ...rest } = item
  return rest
}

function hasId({ id }: InputItem): boolean {
  return id !== undefined && id !== null
}

/** Reasoning that a vendor could only read if it had kept it, or that another kind of model has left. */
function isUnreadable(item: InputItem): boolean {
  if (kindOf(item) !== 'reasoning') return false
  const { encrypted_content: opaque, content } = item
  if (typeof opaque === 'string' && opaque !== '') return isOurs(opaque)
  return !Array.isArray(content) || content.length === 0
}
