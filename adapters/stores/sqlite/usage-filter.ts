import type { UsageFilter, UsageQuestion } from '../index.ts'
import { given, type Condition } from './conditions.ts'

/** Conditions on labels, with the alias `l`. */
export function ownerConditions({ account, key, model, user, tag }: UsageFilter): Condition[] {
  return [
    ...given('account = ?', account),
    ...given('key = ?', key),
    ...given('model = ?', model),
    ...given('"user" = ?', user),
    ...given('l.tags IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(l.tags) WHERE value = ?)', tag),
  ]
}

/** The condition on labels that selects the values that are needed. */
export function onlyCondition({ only }: UsageQuestion): Condition[] {
  if (only === undefined) return []
  return [[`l."${only.dimension}" IN (SELECT value FROM json_each(?))`, JSON.stringify(only.values)]]
}

/** Conditions on single records. `IS NOT NULL` allows an index of the few records with an outcome or code. */
export function callConditions({ session, outcome, code }: UsageFilter): Condition[] {
  const isIncomplete = outcome !== undefined && outcome !== 'completed'
  return [
    ...given('session = ?', session),
    ...(outcome === 'completed' ? [['outcome IS NULL'] as const] : given('outcome = ?', outcome)),
    ...(isIncomplete ? [['outcome IS NOT NULL'] as const] : []),
    ...(code === undefined ? [] : [['code IS NOT NULL'] as const]),
    ...given('code = ?', code),
  ]
}
