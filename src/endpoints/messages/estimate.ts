import { mediaIn, type MediaKind } from '../../admission/media.ts'
import { estimateTokens } from '../../wire/counts.ts'
import type { Order } from '../endpoint.ts'

/** Typical tokens of a part that is not text, whose bytes say little about them. */
const typical: Readonly<Record<MediaKind, number>> = { image: 1_600, audio: 1_000, file: 3_000 }

/** About how many input tokens a request has: one for four bytes of text, and a typical number for each image or file. */
export function estimatedInput({ promptTokens, field }: Pick<Order<unknown>, 'promptTokens' | 'field'>): number {
  let tokens = promptTokens
  for (const { kind, bytes } of mediaIn(field)) {
    if (bytes > 0) tokens += Math.min(0, typical[kind] - estimateTokens(bytes))
    else tokens += typical[kind]
  }
  return Math.max(1, tokens)
}
