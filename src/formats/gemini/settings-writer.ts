/** Writes `generationConfig`. */
import type { Conversation, Fields, Output, Reasoning } from '../../conversation/conversation.ts'
import { answerSchema } from './schema.ts'
import { unsupportedValue } from '../../providers/unsupported.ts'
import { isRecord } from '../../wire/json.ts'
import { clientName, writeNumbers } from '../field-names.ts'
import type { Target } from '../format.ts'
import { numbers } from './field-names.ts'
import { thinkingFor } from './thinking.ts'
import { isForModel, type ContentTraits } from '../../providers/content-traits.ts'

export function writeConfig({ settings, output, own }: Conversation, to: Target<ContentTraits>): Fields | undefined {
  const choices = settings.choices === 1 ? undefined : settings.choices
  const config = writeNumbers({ ...settings, choices }, numbers)
  const { max, stops, seed, logprobs, modalities, reasoning } = settings
  // Some clients ask for 0 to fill a cache.
  const most = max === undefined ? to.max : Math.max(1, Math.min(max, to.max ?? max))
  if (most !== undefined) config['maxOutputTokens'] = most
  // The vendor's seeds are 32-bit integers.
  if (seed !== undefined) config['seed'] = seed % 2 ** 31
  if (stops !== undefined) config['stopSequences'] = stops
  if (logprobs !== undefined) config['responseLogprobs'] = true
  if (logprobs !== undefined && logprobs > 0) config['logprobs'] = logprobs
  if (output !== undefined) Object.assign(config, writeOutput(output))
  if (modalities !== undefined && !(isForModel(to.traits) && modalities.every((each) => each === 'text')))
    config['responseModalities'] = modalities.map((each) => each.toUpperCase())
  const thinking = reasoning && writeThinking(reasoning, most, to)
  if (thinking !== undefined && Object.keys(thinking).length > 0) config['thinkingConfig'] = thinking
  return withOwn(config, own?.gemini?.['generationConfig'])
}

/** Fields of this wire's own; those of its thinking beside ours. */
function withOwn(config: Record<string, unknown>, own: unknown): Fields | undefined {
  if (isRecord(own)) {
    const { thinkingConfig, ...rest } = own
    Object.assign(config, rest)
    if (isRecord(thinkingConfig))
      config['thinkingConfig'] = { ...(config['thinkingConfig'] as Fields), ...thinkingConfig }
  }
  return Object.keys(config).length > 0 ? config : undefined
}

function writeOutput(output: Output): Fields {
  if (output.kind === 'json') return { responseMimeType: 'application/json' }
  return { responseMimeType: 'application/json', responseJsonSchema: answerSchema(output.schema) }
}

/** Throws 400 for a model without reasoning. */
export function writeThinking(
  reasoning: Reasoning,
  max: number | undefined,
  to: Target<ContentTraits>,
): Fields | undefined {
  const { mode, effort, budget, show } = reasoning
  if (isForModel(to.traits)) {
    const config = thinkingFor(reasoning, max, to.traits)
    if (config !== undefined) return config
    const why = 'it has no reasoning; omit the field.'
    throw unsupportedValue({ publicModel: to.model }, clientName(to, 'reasoning'), why)
  }
  const out: Record<string, unknown> = {}
  if (effort !== undefined) out['thinkingLevel'] = effort
  const tokens = mode === 'off' ? 0 : mode === 'adaptive' ? -1 : budget
  if (tokens !== undefined) out['thinkingBudget'] = tokens
  if (show !== undefined) out['includeThoughts'] = show !== 'hidden'
  return out
}

/** The service tiers have the same names as OpenAI's. */
export function writeTier(tier: string | undefined, to: Target<ContentTraits>): string | undefined {
  if (tier === undefined || tier === 'auto' || tier === 'default') return undefined
  if (tier === 'flex' || tier === 'priority' || tier === 'standard') return tier
  const why = 'it must be "auto", "default", "standard", "flex" or "priority".'
  throw unsupportedValue({ publicModel: to.model }, clientName(to, 'tier'), why)
}
