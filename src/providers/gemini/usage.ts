/** Counts of the vendor in OpenAI's form. */
import { isRecord } from '../reading/parts.ts'
import type { Usage } from '../../wire/usage.ts'

/** Undefined where nothing was counted. Thoughts are output, and what tools of the vendor's own read is input. */
export function usageOf(raw: unknown): Usage | undefined {
  if (!isRecord(raw) || typeof raw['promptTokenCount'] !== 'number') return undefined
  const reasoning = count(raw['thoughtsTokenCount'])
  const prompt = count(raw['promptTokenCount']) + count(raw['toolUsePromptTokenCount'])
  const completion = count(raw['candidatesTokenCount']) + reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: count(raw['cachedContentTokenCount']) },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
