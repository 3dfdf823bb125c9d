import { invalid } from '../errors.ts'
import type { Page } from '../records/page.ts'
import { requireValid, rules } from './check.ts'

/** Throws a 400 unless the value is a valid id. */
export function requireId(value: unknown, name: string): void {
  requireValid(rules.id, value, name)
}

/** The store, if it implements an optional method. Throws a 400 otherwise. */
export function offering<S extends object, M extends keyof S>(store: S, method: M, what: string): Required<Pick<S, M>> {
  if (store[method] === undefined) throw invalid(`This store does not support listing or changing ${what}.`)
  return store as Required<Pick<S, M>>
}

export function paged<From, To>({ items, ...rest }: Page<From>, map: (item: From) => To): Page<To> {
  return { ...rest, items: items.map(map) }
}
