import type { ChatTraits } from '../../../src/formats/chat/traits.ts'

/** A vendor that takes all that a chat can say. */
export const everything: ChatTraits = {
  textParts: true,
  systemAnywhere: true,
  cacheControl: true,
  topK: true,
  richResults: true,
  reasoning: true,
  details: true,
  maxStops: 99,
}
