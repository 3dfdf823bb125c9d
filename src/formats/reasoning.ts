/** How much a model is to reason, in the words that the formats share. */
import type { Effort, Reasoning } from '../conversation/conversation.ts'
import { invalid } from '../errors.ts'

/** The efforts, lowest first. */
export const efforts: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Undefined for anything else. */
export function effortIn(value: unknown): Effort | undefined {
  return efforts.find((each) => each === value)
}

/** An effort of OpenAI's, which may be `none`; undefined if there is none. Throws 400 for any other value of the field `place`. */
export function readEffort(value: unknown, place: string): Pick<Reasoning, 'mode' | 'effort'> | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 'none') return { mode: 'off' }
  const effort = effortIn(value)
  if (effort === undefined) throw invalid(`"${place}" must be one of none, ${efforts.join(', ')}.`, place)
  return { effort }
}

/** The least budget for each effort. */
const budgets = [
  [10_000, 'high'],
  [5_000, 'medium'],
  [2_000, 'low'],
] as const

export function effortForBudget(budget: number): Effort {
  return budgets.find(([least]) => budget >= least)?.[1] ?? 'minimal'
}

/** The effort in OpenAI's words; undefined if the model decides. `max`: the limit of tokens, of which a budget is a part. */
export function effortOf({ mode, effort, budget }: Reasoning, max: number | undefined): Effort | 'none' | undefined {
  if (mode === 'off') return 'none'
  if (effort !== undefined) return effort
  if (mode !== 'on' || budget === undefined) return undefined
  return effortForBudget(max === undefined ? budget : Math.min(budget, max - 1))
}
