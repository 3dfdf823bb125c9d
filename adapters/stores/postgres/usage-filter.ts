/** The conditions of a usage filter. Each function appends to `values`. */
import type { UsageFilter } from '../index.ts'
import { conditions } from './conditions.ts'

/** Conditions on labels. */
export function labelConditions(values: unknown[], { account, key, model, user, tag }: UsageFilter): string[] {
  const equal = conditions(values, { 'account =': account, 'key =': key, 'model =': model, '"user" =': user })
  return tag === undefined ? equal : [...equal, `l.tags ? $${values.push(tag)}`]
}

/** Conditions on single requests. */
export function callConditions(values: unknown[], { session, outcome, code }: UsageFilter): string[] {
  const isCompleted = outcome === 'completed'
  return [
    ...conditions(values, { 'session =': session, 'code =': code, 'outcome =': isCompleted ? undefined : outcome }),
    ...(isCompleted ? ['outcome IS NULL'] : []),
  ]
}

/** Conditions on records of version 1, which have no user, tags and session. */
export function oldConditions(values: unknown[], question: UsageFilter): string[] {
  const { account, key, model, user, tag, session, outcome, code, from, to } = question
  if ([user, tag, session].some((each) => each !== undefined)) return ['false']
  return conditions(values, {
    'account =': account,
    'key =': key,
    'model =': model,
    "record->>'outcome' =": outcome,
    "record->>'code' =": code,
    'started_at >=': from,
    'started_at <': to,
  })
}
