/** Writes `generationConfig`. */
import type { Conversation, Fields, Output, Reasoning, Effort } from '../../conversation/conversation.ts'
import { answerSchema } from './schema.ts'
import { unsupportedValue } from '../../providers/unsupported.ts'
import { isRecord } from '../../wire/json.ts'
import { clientName, writeNumbers } from '../field-names.ts'
import type { Target } from '../format.ts'
import { numbers } from './field-names.ts'
import { isForModel, type ContentTraits } from '../../providers/content-traits.ts'
import { effortForBudget, efforts } from '../reasoning.ts'

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

/** The token budgets of Google's own OpenAI-compatible endpoint. */
const budgets: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}

/** `max`: the limit of output tokens, of which a budget is a part. Undefined if the model has no reasoning. */
function thinkingFor(reasoning: Reasoning, max: number | undefined, traits: ContentTraits): Fields | undefined {
  const { thinking, levels = efforts, budget: [least, most] = [0, 24_576] } = traits
  const { mode, effort } = reasoning
  const off = mode === 'off'
  if (thinking === 'none') return off ? {} : undefined
  const includeThoughts = !off && reasoning.show !== 'hidden'
  const budget = limited(reasoning.budget, max)
  if (!off && effort === undefined && budget === undefined) return { includeThoughts }
  if (thinking === 'levels') {
    const wanted = off ? 'minimal' : (effort ?? effortForBudget(budget ?? 0))
    return { thinkingLevel: levelOf(wanted, levels), includeThoughts }
  }
  const tokens = off ? least : Math.min(Math.max(budget ?? budgets[effort ?? 'medium'], least), most)
  return { thinkingBudget: tokens, includeThoughts }
}

function limited(budget: number | undefined, max: number | undefined): number | undefined {
  return budget === undefined || max === undefined ? budget : Math.min(budget, max - 1)
}

/** The requested level, otherwise the highest below it, otherwise the lowest. */
function levelOf(effort: Effort, levels: readonly string[]): string | undefined {
  const wanted = efforts.indexOf(effort)
  return levels.findLast((level) => efforts.indexOf(level as Effort) <= wanted) ?? levels[0]
}
