/** What an identity may reach. Every request passes here, and nothing else compares accounts. */
import { GatewayError } from '../../errors.ts'
import { usageFieldsWith } from '../../observe/usage/fields.ts'
import type { UsageScope } from '../usage-scope.ts'
import type { UsageView } from '../usage.ts'
import type { Identity } from './identity.ts'

/**
 * The response for whatever the identity cannot reach: without an identity everything, otherwise what does not exist and what
 * belongs to another account. Always the same, so that it reveals nothing.
 */
export function nothing(): GatewayError {
  return new GatewayError('not_found')
}

/** Whether a route exists for an identity. */
export function isFor(
  identity: Identity,
  { role, isContent }: { readonly role: Identity['role']; readonly isContent?: boolean },
): boolean {
  if (isContent === true && identity.content !== true) return false
  return identity.role === 'admin' || role === 'account'
}

/** The scope of a request that names these accounts, in its path and query. Throws `nothing` for another account. */
export function reach(identity: Identity, named: readonly string[]): UsageScope {
  if (identity.role === 'admin') return named[0] === undefined ? { all: true } : { account: named[0] }
  if (named.some((account) => account !== identity.account)) throw nothing()
  return { account: identity.account }
}

/** The account of a scope, if it is one. */
export function accountOf({ account }: UsageScope): { readonly account?: string } {
  return account === undefined ? {} : { account }
}

/** A row that was found by an id of its own. Throws `nothing` if there is none, or it belongs to another account. */
export function within<Row extends { readonly account: string }>(scope: UsageScope, row: Row | undefined): Row {
  if (row === undefined || (scope.all !== true && row.account !== scope.account)) throw nothing()
  return row
}

/** What only the operator sees of a request, and of what it made: which vendor serves a model, and what that costs. */
export const internal: readonly (keyof UsageView)[] = ['attemptLog', ...usageFieldsWith((field) => field.internal)]

/** What an identity may see of such a record. */
export function seenBy({ role }: Identity, record: object): object {
  if (role === 'admin') return record
  return Object.fromEntries(Object.entries(record).filter(([name]) => !internal.includes(name as keyof UsageView)))
}

/** What was found. Throws a 404 if there is nothing of this name. */
export function present<T>(found: T | undefined, name: string, param?: string): T {
  if (found !== undefined) return found
  throw new GatewayError('not_found', { message: `No such ${name}.`, ...(param !== undefined && { param }) })
}
