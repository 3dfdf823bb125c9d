/** Envelopes for the encrypted items of vendors that have a responses endpoint. */
import type { InputItem, OutputItem } from '../../wire/responses.ts'
import { isSealed, seal, unseal } from '../../formats/envelope.ts'
import { kindOf } from './items.ts'
import { compactedByOther, summaryText } from '../../formats/responses/compaction.ts'

/** Items for the client, with encrypted content in envelopes; the same list if there is none. */
export function sealedItems<Items extends readonly OutputItem[]>(items: Items, maker: string | undefined): Items {
  if (maker === undefined || !items.some(hasEncryptedContent)) return items
  return items.map((item) => sealedItem(item, maker)) as unknown as Items
}

/** One item for the client; the same object if it has no encrypted content. */
export function sealedItem(item: OutputItem, maker: string | undefined): OutputItem {
  if (maker === undefined || !hasEncryptedContent(item)) return item
  return { ...item, encrypted_content: seal(maker, item['encrypted_content'] as string) }
}

/** An item for the vendor `maker`; undefined for reasoning that it cannot read. Throws 400 for such a compaction. */
export function unsealedItem(item: InputItem, maker: string): InputItem | undefined {
  const encrypted = item.encrypted_content
  if (!hasEncryptedContent(item) || !isSealed(encrypted)) return isUnreadable(item) ? undefined : item
  const own = unseal(encrypted, maker)
  // Vendors require the summary, which some clients drop if it is empty.
  if (own !== undefined) return { ...(item.type === 'reasoning' && { summary: [] }), ...item, encrypted_content: own }
  if (item.type !== 'compaction') return undefined
  const text = summaryText(encrypted)
  if (text === undefined) throw compactedByOther('input')
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

/** Whether an item is reasoning without content, which vendors can only look up by id in what they have stored. */
function isUnreadable(item: InputItem): boolean {
  const { encrypted_content: encrypted, content } = item
  if (kindOf(item) !== 'reasoning' || (typeof encrypted === 'string' && encrypted !== '')) return false
  return !Array.isArray(content) || content.length === 0
}

function hasEncryptedContent({ type, encrypted_content: encrypted }: InputItem): boolean {
  return (type === 'reasoning' || type === 'compaction') && typeof encrypted === 'string' && encrypted !== ''
}
