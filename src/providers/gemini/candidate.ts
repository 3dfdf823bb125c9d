/** What a model made that answers with images or audio. */
import { fieldsOf, itemsOf, type Fields } from '../../wire/json.ts'

export interface Candidate {
  /** The files of the answer, in base64, without those of a thought. */
  readonly files: readonly { readonly data: string; readonly type: string }[]
  readonly finishReason: unknown
}

/** The first candidate of a response. */
export function candidateIn({ candidates }: Fields): Candidate {
  const { content, finishReason } = fieldsOf(itemsOf(candidates)[0])
  const files = itemsOf(fieldsOf(content)['parts']).flatMap((part) => {
    const { inlineData, thought } = fieldsOf(part)
    const { data, mimeType } = fieldsOf(inlineData)
    return typeof data === 'string' && thought !== true ? [{ data, type: String(mimeType) }] : []
  })
  return { files, finishReason }
}
