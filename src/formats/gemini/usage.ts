/** Usage under Google's names. */
import { isRecord, type Fields } from '../../wire/json.ts'
import type { Answer } from '../../conversation/parts.ts'

/** A vendor with this wire counts as it counts. Undefined if nothing was counted. */
export function writeUsage({ usage, counters }: Pick<Answer, 'usage' | 'counters'>): Fields | undefined {
  if (counters?.['promptTokenCount'] !== undefined) return counters
  if (usage === undefined) return undefined
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  const { prompt_tokens_details: read, completion_tokens_details: made } = usage
  const thoughts = made?.reasoning_tokens ?? 0
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: completion - thoughts,
    totalTokenCount: prompt + completion,
    cachedContentTokenCount: read?.cached_tokens || undefined,
    thoughtsTokenCount: thoughts || undefined,
    promptTokensDetails: modalitiesIn(read, prompt),
    candidatesTokensDetails: modalitiesIn(made, completion - thoughts),
  }
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
