/** The conditions of a usage filter. Each function appends to `values`. */
import type { UsageFilter, UsageQuestion } from '../index.ts'
import { conditions } from './conditions.ts'

/** Conditions on labels. */
export function labelConditions(values: unknown[], { account, key, model, user, tag }: UsageFilter): string[] {
  const equal = conditions(values, { 'account =': account, 'key =': key, 'model =': model, '"user" =': user })
  return tag === undefined ? equal : [...equal, `l.tags ? $${values.push(tag)}`]
}

/** The condition on labels that selects the values that are needed. Appends to `values`. */
export function onlyCondition(values: unknown[], { only }: UsageQuestion): string[] {
  if (only === undefined) return []
  const wanted = `SELECT jsonb_array_elements_text($${values.push(JSON.stringify(only.values))}::jsonb)`
  return [`l."${only.dimension}" = ANY (ARRAY(${wanted}))`]
}

/** Conditions on single requests. */
export function callConditions(values: unknown[], { session, outcome, code }: UsageFilter): string[] {
  const isCompleted = outcome === 'completed'
  return [
    ...conditions(values, { 'session =': session, 'code =': code, 'outcome =': isCompleted ? undefined : outcome }),
    ...(isCompleted ? ['outcome IS NULL'] : []),
  ]
}
