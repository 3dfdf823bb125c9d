/** The result of a call for a vendor. */
import type { MediaBlock, ResultBlock } from '../../conversation/conversation.ts'
import { objectOf } from '../../conversation/json.ts'
import type { Fields } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { insteadOf } from '../instead.ts'
import { mediaParts } from './media-writer.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'

/** `name`: of the function. What a result cannot contain stands after it. */
export function resultParts(
  { callId, blocks, failed, own }: ResultBlock,
  name: string,
  to: Target<ContentTraits>,
): Fields[] {
  const said = blocks.flatMap((block) => (block.kind === 'own' ? insteadOf(block, 'gemini', to) : [block]))
  const media = said
    .filter((block): block is MediaBlock => block.kind === 'media')
    .flatMap((block) => mediaParts(block, to))
  const text = said
    .flatMap((block) => (block.kind === 'text' || block.kind === 'refusal' ? [block.text] : []))
    .join('\n')
  const inside = to.traits.richResults !== false && media.length > 0
  const { functionResponse: more, ...rest } = own?.gemini ?? {}
  const functionResponse: Record<string, unknown> = {
    id: callId,
    name,
    response: failed === true ? { error: text } : responseOf(text),
  }
  if (inside) functionResponse['parts'] = media
  const part = {
    functionResponse: more === undefined ? functionResponse : { ...functionResponse, ...(more as Fields) },
    ...rest,
  }
  return inside ? [part] : [part, ...media]
}

/** The API requires an object. Text with `$ref` is not passed as one, because the API would resolve the reference. */
function responseOf(text: string): Fields {
  return (text.includes('"$ref"') ? undefined : objectOf(text)) ?? { output: text }
}
