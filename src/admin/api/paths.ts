/** Finding the routes of a request. */
import { decodeSegment, pathOf } from '../../http/target.ts'
import type { Route } from './route.ts'

/** The routes of one path, and the parameters in it. */
export interface Match {
  readonly routes: readonly Route[]
  /** The account in the path. */
  readonly account?: string
  /** The other parameter in the path. */
  readonly id?: string
}

interface Pattern {
  readonly segments: readonly string[]
  readonly routes: Route[]
}

/** The paths of a table of routes. */
export class Paths {
  readonly #patterns: readonly Pattern[]

  constructor(routes: readonly Route[]) {
    const patterns = new Map<string, Pattern>()
    for (const route of routes) {
      const known = patterns.get(route.path)
      if (known === undefined) patterns.set(route.path, { segments: route.path.slice(1).split('/'), routes: [route] })
      else known.routes.push(route)
    }
    // Fixed paths take precedence over parameters: `/keys.csv` over `/{id}`.
    this.#patterns = [...patterns.values()].sort((left, right) => parameters(left) - parameters(right))
  }

  /** The routes of a request target; undefined if there are none. Parameters are decoded once, after the path is split. */
  match(target: string): Match | undefined {
    // A mount path that ends in `/v1` leaves it in the target.
    const path = pathOf(target).replace(/^\/v1(?=\/)/, '')
    if (!path.startsWith('/')) return undefined
    const given = path.slice(1).split('/')
    for (const { segments, routes } of this.#patterns) {
      if (segments.length !== given.length) continue
      const found = parametersIn(segments, given)
      if (found !== undefined) return { routes, ...found }
    }
    return undefined
  }
}

function parameters({ segments }: Pattern): number {
  return segments.filter((segment) => segment.startsWith('{')).length
}

function parametersIn(segments: readonly string[], given: readonly string[]): Omit<Match, 'routes'> | undefined {
  const found: { account?: string; id?: string } = {}
  for (const [index, segment] of segments.entries()) {
    const text = given[index] ?? ''
    if (!segment.startsWith('{')) {
      if (segment !== text) return undefined
      continue
    }
    const value = decodeSegment(text)
    if (value === undefined || !/^[\x21-\x7e]{1,128}$/.test(value)) return undefined
    found[segment === '{account}' ? 'account' : 'id'] = value
  }
  return found
}
