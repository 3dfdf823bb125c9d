/** Translates the vendor's usage. Source: the Gemini API reference, UsageMetadata. */
import { countOf, countOrNone, entryIn, fieldsOf, isRecord, itemsOf, textOf } from '../../wire/json.ts'
import type { Usage } from '../../wire/usage.ts'

/** Undefined if there is none. A count of 0 is left out. Thinking counts as output, and the input of the vendor's built-in tools as input. */
export function usageOf(raw: unknown): Usage | undefined {
  if (!isRecord(raw) || countOf(raw['promptTokenCount']) === undefined) return undefined
  const reasoning = countOrNone(raw['thoughtsTokenCount'])
  const prompt = countOrNone(raw['promptTokenCount']) + countOrNone(raw['toolUsePromptTokenCount'])
  const completion = countOrNone(raw['candidatesTokenCount']) + reasoning
  if (Number.isNaN(prompt + completion)) return undefined
  const ofCache = modalities(raw['cacheTokensDetails'])
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: countOf(raw['cachedContentTokenCount']) ?? 0,
      ...modalities(raw['promptTokensDetails'], raw['toolUsePromptTokensDetails']),
      ...(Object.keys(ofCache).length > 0 && { cached_tokens_details: ofCache }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning, ...modalities(raw['candidatesTokensDetails']) },
    ...tierOf(raw),
  }
}

/** The same of the Interactions API. `tier`: the service tier that it reports. */
export function interactionUsageOf(raw: unknown, tier: unknown): Usage | undefined {
  const {
    total_input_tokens: promptTokenCount,
    total_tool_use_tokens: toolUsePromptTokenCount,
    total_output_tokens: candidatesTokenCount,
    total_thought_tokens: thoughtsTokenCount,
    total_cached_tokens: cachedContentTokenCount,
    input_tokens_by_modality: ofPrompt,
    tool_use_tokens_by_modality: ofTools,
    output_tokens_by_modality: ofAnswer,
    cached_tokens_by_modality: ofCache,
  } = fieldsOf(raw)
  return usageOf({
    promptTokenCount,
    toolUsePromptTokenCount,
    candidatesTokenCount,
    thoughtsTokenCount,
    cachedContentTokenCount,
    promptTokensDetails: detailsIn(ofPrompt),
    toolUsePromptTokensDetails: detailsIn(ofTools),
    candidatesTokensDetails: detailsIn(ofAnswer),
    cacheTokensDetails: detailsIn(ofCache),
    serviceTier: tier,
  })
}

function detailsIn(list: unknown): object[] {
  return itemsOf(list)
    .map(fieldsOf)
    .map(({ modality, tokens }) => ({ modality: textOf(modality).toUpperCase(), tokenCount: tokens }))
}

const tiers: Readonly<Record<string, string>> = {
  STANDARD: 'default',
  ON_DEMAND: 'default',
  ON_DEMAND_FLEX: 'flex',
  ON_DEMAND_PRIORITY: 'priority',
}

/** The service tier as prices name it, if the vendor reports it. */
function tierOf({ serviceTier, trafficType = serviceTier }: Record<string, unknown>): Pick<Usage, 'service_tier'> {
  if (typeof trafficType !== 'string') return {}
  return { service_tier: tiers[trafficType.toUpperCase()] ?? trafficType.toLowerCase() }
}

const names: Readonly<Record<string, string>> = {
  AUDIO: 'audio_tokens',
  IMAGE: 'image_tokens',
  VIDEO: 'video_tokens',
}

/** The tokens that are not text, by OpenAI's names. */
function modalities(...lists: readonly unknown[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const list of lists) {
    for (const { modality, tokenCount } of itemsOf(list).map(fieldsOf)) {
      const name = entryIn(names, modality)
      const tokens = countOf(tokenCount) ?? 0
      if (name !== undefined && tokens > 0) sums[name] = (sums[name] ?? 0) + tokens
    }
  }
  return sums
}
