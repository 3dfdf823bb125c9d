import * as z from 'zod'
import { invalid } from '../errors.ts'
import { breachOf } from '../records/rules.ts'
import { id } from './questions.ts'
import type { UsageScope } from './usage-scope.ts'

/** One account, or explicitly all. */
export const ofAny: { readonly account: z.ZodOptional; readonly all: z.ZodOptional } = {
  account: id.optional(),
  all: z.literal(true).optional(),
}

/** Throws a 400 that names the invalid field. `name` is the name of the value itself. */
export function requireValid(rule: z.ZodType, value: unknown, name = ''): void {
  const breach = breachOf(rule, value)
  if (breach === undefined) return
  const path = [name, breach.path].filter((part) => part !== '').join('.')
  throw invalid(path === '' ? `Invalid argument: ${breach.message}` : `"${path}": ${breach.message}`, path)
}

/**
 * The same for a question about one account or all. All must be requested explicitly, so that a page without a logged-in user
 * does not show them by mistake. `what`: completes "for the … of all accounts".
 */
export function requireScoped(rule: z.ZodType, question: UsageScope, what: string): void {
  const { account, all } = Object(question) as Partial<UsageScope>
  if (account === undefined && all !== true) {
    throw invalid(`"account" is missing. Set "all: true" for the ${what} of all accounts.`, 'account')
  }
  if (account !== undefined && all !== undefined) throw invalid('Only one of "account" and "all" can be set.', 'all')
  requireValid(rule, question)
}

/** Throws a 400 unless the value is a valid id. */
export function requireId(value: unknown, name: string): void {
  requireValid(id, value, name)
}

/** The store, if it implements an optional method. Throws a 400 otherwise. */
export function requireMethod<S extends object, M extends keyof S>(
  store: S,
  method: M,
  what: string,
): Required<Pick<S, M>> {
  if (store[method] === undefined) throw invalid(`This store does not support listing or changing ${what}.`)
  return store as Required<Pick<S, M>>
}
