/** Translates the vendor's usage. */
import { isRecord } from '../reading/parts.ts'
import type { Usage } from '../../wire/usage.ts'

/** Undefined if there is none. Thinking counts as output, and the input of the vendor's built-in tools as input. */
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
