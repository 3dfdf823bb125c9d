/** Envelopes for the encrypted items of vendors that have a responses endpoint. */
import type { InputItem, OutputItem } from '../../wire/responses.ts'
import { isSealed, seal, unseal } from '../envelope.ts'
import { kindOf } from './items.ts'
import { compactedByOther, summaryText } from './summary.ts'

/** Items for the client, with encrypted content in envelopes; the same list if there is none. */
export function sealed<Items extends readonly OutputItem[]>(items: Items, maker: string | undefined): Items {
  if (maker === undefined || !items.some(isOpaque)) return items
  return items.map((item) => sealedItem(item, maker)) as unknown as Items
}

/** One item for the client; the same object if it has no encrypted content. */
export function sealedItem(item: OutputItem, maker: string | undefined): OutputItem {
  if (maker === undefined || !isOpaque(item)) return item
  return { ...item, encrypted_content: seal(maker, item['encrypted_content'] as string) }
}

/** An item for the vendor `maker`; undefined for reasoning that it cannot read. Throws 400 for such a compaction. */
export function opened(item: InputItem, maker: string): InputItem | undefined {
  const opaque = item.encrypted_content
  if (!isOpaque(item) || !isSealed(opaque)) return isUnreadable(item) ? undefined : item
  const own = unseal(opaque, maker)
  // Vendors require the summary, which some clients drop if it is empty.
  if (own !== undefined) return { ...(item.type === 'reasoning' && { summary: [] }), ...item, encrypted_content: own }
  if (item.type !== 'compaction') return undefined
  const text = summaryText(item)
  if (text === undefined) throw compactedByOther('input')
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

/** Whether an item is reasoning without content, which vendors can only look up by id in what they have stored. */
function isUnreadable(item: InputItem): boolean {
  const { encrypted_content: opaque, content } = item
  if (kindOf(item) !== 'reasoning' || (typeof opaque === 'string' && opaque !== '')) return false
  return !Array.isArray(content) || content.length === 0
}

function isOpaque({ type, encrypted_content: opaque }: InputItem): boolean {
  return (type === 'reasoning' || type === 'compaction') && typeof opaque === 'string' && opaque !== ''
}
