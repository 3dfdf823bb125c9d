/** Translates `reasoning_effort`. */
import type { Effort } from '../reading/settings.ts'
import type { GeminiTraits } from './models.ts'

/** The token budgets of Google's own OpenAI-compatible endpoint. */
const budgets = { minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576, xhigh: 32_768, max: 32_768 }

const order: readonly string[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Undefined if the model has no reasoning. */
export function thinkingFor(effort: Effort, traits: GeminiTraits): Readonly<Record<string, unknown>> | undefined {
  if (traits.thinking === 'none') return effort === 'none' ? {} : undefined
  const shown = effort !== 'none'
  if (traits.thinking === 'levels') {
    return { thinkingConfig: { thinkingLevel: levelOf(effort, traits.levels), includeThoughts: shown } }
  }
  const [least, most] = traits.budget
  const budget = effort === 'none' ? least : Math.min(Math.max(budgets[effort], least), most)
  return { thinkingConfig: { thinkingBudget: budget, includeThoughts: shown } }
}

/** The requested level, otherwise the highest below it, otherwise the lowest. */
function levelOf(effort: Effort, levels: readonly string[]): string | undefined {
  const wanted = order.indexOf(effort)
  return levels.findLast((level) => order.indexOf(level) <= wanted) ?? levels[0]
}
