/** The result of a call for a vendor. */
import type { ResultBlock } from '../../conversation/conversation.ts'
import { objectOf } from '../../conversation/json.ts'
import type { Fields } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { saidAs } from '../instead.ts'
import { mediaParts } from './media-writer.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'

/** `name`: of the function. What a result cannot contain stands after it. */
export function resultParts(
  { callId, blocks, failed, own }: ResultBlock,
  name: string,
  to: Target<ContentTraits>,
): Fields[] {
  const said = blocks.flatMap((block) => saidAs(block, 'gemini', to))
  const media = said.flatMap((block) => (block.kind === 'media' ? mediaParts(block, to) : []))
  const text = said
    .flatMap((block) => (block.kind === 'text' || block.kind === 'refusal' ? [block.text] : []))
    .join('\n')
  const inside = to.traits.richResults !== false && media.length > 0
  const { functionResponse: more, ...rest } = own?.gemini ?? {}
  const response = failed === true ? { error: text } : responseOf(text)
  const functionResponse = { id: callId, name, response, ...(inside && { parts: media }), ...(more as Fields) }
  const part = { functionResponse, ...rest }
  return inside ? [part] : [part, ...media]
}

/** The API requires an object. Text with `$ref` is not passed as one, because the API would resolve the reference. */
function responseOf(text: string): Fields {
  return (text.includes('"$ref"') ? undefined : objectOf(text)) ?? { output: text }
}
