/** What a text cites. Google counts bytes of UTF-8, citations characters. */
import type { Citation } from '../../conversation/conversation.ts'
import { fieldsOf, itemsOf, stringOf } from '../../wire/json.ts'

/** `before`: the text of the block that the annotations do not count. */
export function citationsIn(annotations: unknown, before: string, text: string): Citation[] {
  return itemsOf(annotations).flatMap((each) => {
    const { url, document_uri: uri = url, title, file_name: name = title, start_index, end_index } = fieldsOf(each)
    if (typeof uri !== 'string') return []
    return [{ url: uri, title: stringOf(name), range: rangeIn(text, before, start_index, end_index) }]
  })
}

function rangeIn(text: string, before: string, from: unknown, to: unknown): Citation['range'] {
  if (typeof to !== 'number') return undefined
  const bytes = Buffer.from(text.slice(before.length))
  if (to > bytes.length) return undefined
  const characters = (end: number) => before.length + bytes.toString('utf8', 0, end).length
  return { start: characters(typeof from === 'number' ? from : 0), end: characters(to) }
}
