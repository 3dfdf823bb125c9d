/** Items of a vendor with a responses endpoint of its own: what only that vendor can read is kept for it. */
import type { InputItem, OutputItem } from '../../wire/responses.ts'
import { isSealed, seal, unseal } from '../envelope.ts'
import { kindOf } from './items.ts'
import { recalled, unreadableSummary } from './summary.ts'

/** The items as the client gets them; the same list where there is nothing to seal. */
export function sealed<Items extends readonly OutputItem[]>(items: Items, maker: string | undefined): Items {
  if (maker === undefined || !items.some(isOpaque)) return items
  return items.map((item) => sealedItem(item, maker)) as unknown as Items
}

export function sealedItem(item: OutputItem, maker: string | undefined): OutputItem {
  if (maker === undefined || !isOpaque(item)) return item
  return { ...item, encrypted_content: seal(maker, item['encrypted_content'] as string) }
}

/** The item as its vendor takes it; undefined for reasoning that this vendor cannot read. */
export function opened(item: InputItem, maker: string): InputItem | undefined {
  const opaque = item.encrypted_content
  if (!isOpaque(item) || !isSealed(opaque)) return isUnreadable(item) ? undefined : item
  const own = unseal(opaque, maker)
  if (own !== undefined) return { ...item, encrypted_content: own }
  if (item.type !== 'compaction') return undefined
  const text = recalled(item)
  if (text === undefined) throw unreadableSummary('input')
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

/** Reasoning that a vendor could only read if it had kept it. */
function isUnreadable(item: InputItem): boolean {
  const { encrypted_content: opaque, content } = item
  if (kindOf(item) !== 'reasoning' || (typeof opaque === 'string' && opaque !== '')) return false
  return !Array.isArray(content) || content.length === 0
}

function isOpaque({ type, encrypted_content: opaque }: InputItem): boolean {
  return (type === 'reasoning' || type === 'compaction') && typeof opaque === 'string' && opaque !== ''
}
