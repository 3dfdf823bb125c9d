/** Usage under Google's names. */
import type { Usage } from '../../wire/usage.ts'
import { isRecord, type Fields } from '../../wire/json.ts'
import type { Answer } from '../../conversation/parts.ts'

/** A vendor with this wire counts as it counts. Undefined if nothing was counted. */
export function writeUsage({
  usage,
  counters,
}: Pick<Answer, 'counters'> & { readonly usage?: Usage | undefined }): Fields | undefined {
  if (counters?.['promptTokenCount'] !== undefined) return counters
  if (usage === undefined) return undefined
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: read,
    completion_tokens_details: made,
  } = usage
  const thoughts = made?.reasoning_tokens ?? 0
  const out: Record<string, unknown> = {
    promptTokenCount: prompt,
    candidatesTokenCount: completion - thoughts,
    totalTokenCount: prompt + completion,
  }
  if (read?.cached_tokens) out['cachedContentTokenCount'] = read.cached_tokens
  if (thoughts > 0) out['thoughtsTokenCount'] = thoughts
  const promptDetails = modalitiesIn(read, prompt)
  const madeDetails = modalitiesIn(made, completion - thoughts)
  if (promptDetails !== undefined) out['promptTokensDetails'] = promptDetails
  if (madeDetails !== undefined) out['candidatesTokensDetails'] = madeDetails
  return out
}

const modalities = { AUDIO: 'audio_tokens', IMAGE: 'image_tokens', VIDEO: 'video_tokens' } as const

/** Undefined if there is only text. */
function modalitiesIn(details: unknown, total: number): object[] | undefined {
  if (!isRecord(details)) return undefined
  const list: { modality: string; tokenCount: number }[] = []
  let text = total
  for (const [modality, name] of Object.entries(modalities)) {
    const tokenCount = details[name]
    if (typeof tokenCount !== 'number' || tokenCount <= 0) continue
    list.push({ modality, tokenCount })
    text -= tokenCount
  }
  return list.length === 0 ? undefined : [{ modality: 'TEXT', tokenCount: Math.max(0, text) }, ...list]
}
