/** Recognises the fields of a request in any spelling that a vendor's parser may take for them. */
import type { CostRules } from '../providers/costs/contract.ts'
import { placing } from '../providers/costs/placing.ts'

/**
 * Fields that the gateway reads itself. In another spelling they are unknown fields to the gateway, but the same fields
 * to a vendor whose parser ignores case.
 */
export const readHere: readonly string[] = [
  'model',
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'size',
  'quality',
  'duration',
  'seconds',
  'tools',
  'messages',
  'system',
  'input',
]

/** Objects whose members some vendors and proxies treat as fields of the request. */
export const containers: readonly string[] = ['extra_body', 'extra_json']

const namesOf = new WeakMap<CostRules, KnownNames>()

/** Recognises the names of the rules in any spelling. Caches look-ups, because most requests have the same fields. */
export class KnownNames {
  readonly #pattern: RegExp
  readonly #seen = new Map<string, string | undefined>()

  constructor(rules: CostRules) {
    const { fields, fileFields = [] } = rules
    const known = [...readHere, ...containers, ...Object.keys({ ...fields, ...placing }), ...fileFields]
    const names = known.map(spellings)
    // In a form a field may also be written `name[part]` or `name.part`.
    this.#pattern = new RegExp(`^(${names.join('|')})(?:[[.].*)?$`, 'isu')
  }

  /** The part of a field's name that matches a known name; undefined if none does. */
  baseOf(name: string): string | undefined {
    if (this.#seen.has(name)) return this.#seen.get(name)
    const base = this.#pattern.exec(name)?.[1]
    if (this.#seen.size >= 1_000) this.#seen.clear()
    if (name.length <= 100) this.#seen.set(name, base)
    return base
  }
}

export function knownNames(rules: CostRules): KnownNames {
  let names = namesOf.get(rules)
  if (names === undefined) namesOf.set(rules, (names = new KnownNames(rules)))
  return names
}

function spellings(name: string): string {
  return name.split('_').join('[_-]?')
}

/** `Service-Tier` and `serviceTier` equal `service_tier`. The `u` flag also matches `ſ`, which Unicode folds to `s`. */
export function isNamed(written: string, name: string): boolean {
  return written === name || new RegExp(`^${spellings(plain(name))}$`, 'iu').test(written)
}

/** Options may use camel case, such as `serviceTier`. */
function plain(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').replaceAll('-', '_')
}
