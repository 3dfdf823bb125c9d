/** Translates reasoning to `thinkingConfig`. */
import type { Effort, Reasoning } from '../../conversation/conversation.ts'
import type { Fields } from '../../wire/json.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'
import { effortForBudget, efforts } from '../reasoning.ts'

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
export function thinkingFor(reasoning: Reasoning, max: number | undefined, traits: ContentTraits): Fields | undefined {
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
