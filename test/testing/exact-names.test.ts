/** Stores that compare names as databases do by default, and the suites that must find it. */
import { describe, expect, test } from 'vitest'
import {
  memoryIdempotencyStore,
  memoryKeyStore,
  memoryLedger,
  memoryLimitStore,
  memoryUsageStore,
} from '../../src/index.ts'
import { memoryResponseStore } from '../../src/responses/memory.ts'
import {
  testIdempotencyStore,
  testKeyStore,
  testLedger,
  testLimitStore,
  testResponseStore,
  testUsageStore,
} from '../../src/testing/index.ts'
import type { TestFunction } from '../../src/testing/kit.ts'
import { failuresOf, methodsOf } from './faults.ts'

type Fold = (text: string) => string

const folds: [string, Fold][] = [
  ['case', (text) => text.toLowerCase()],
  ['trailing spaces', (text) => text.replace(/ +$/, '')],
  ['accents', (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '')],
]

/** The names of the positional string parameters of each method. */
type Parameters = Readonly<Record<string, readonly string[]>>

/** A store that folds one field in all its parameters. */
function folding<Store extends object>(store: Store, parameters: Parameters, field: string, fold: Fold): Store {
  const methods = Object.entries(methodsOf(store)) as [string, (...values: unknown[]) => unknown][]
  const folded = methods.map(([name, method]) => {
    const call = (...values: unknown[]) =>
      method(...values.map((value, index) => deep(value, parameters[name]?.[index] ?? '', field, fold)))
    return [name, call] as const
  })
  return Object.fromEntries(folded) as Store
}

function deep(value: unknown, name: string, field: string, fold: Fold): unknown {
  if (typeof value === 'string') return name === field ? fold(value) : value
  if (Array.isArray(value)) return value.map((each) => deep(each, name, field, fold))
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  return Object.fromEntries(Object.entries(value).map(([inner, each]) => [inner, deep(each, inner, field, fold)]))
}

type Kit = (run: TestFunction, field: string, fold: Fold) => void

/** The fields of each store: `ascii` ones hold visible ASCII characters, so their look-alikes differ in case only. */
const kits: [string, Kit, { any: string[]; ascii: string[] }][] = [
  [
    'keys',
    (run, field, fold) => {
      const parameters = { find: ['hash'], list: ['account'] }
      testKeyStore(run, () => folding(memoryKeyStore(), parameters, field, fold))
    },
    { any: ['hash', 'account'], ascii: ['id'] },
  ],
  [
    'limits',
    (run, field, fold) => testLimitStore(run, () => folding(memoryLimitStore(), {}, field, fold)),
    { any: ['bucket', 'id'], ascii: [] },
  ],
  [
    'the ledger',
    (run, field, fold) => {
      const parameters = { account: ['account'], entries: ['account'] }
      testLedger(run, () => folding(memoryLedger(), parameters, field, fold))
    },
    { any: ['account', 'id', 'reference'], ascii: [] },
  ],
  [
    'usage',
    (run, field, fold) => testUsageStore(run, () => folding(memoryUsageStore(), { find: ['id'] }, field, fold)),
    { any: ['account', 'key', 'model', 'id'], ascii: [] },
  ],
  [
    'idempotency',
    (run, field, fold) => testIdempotencyStore(run, () => folding(memoryIdempotencyStore(), {}, field, fold)),
    { any: ['account', 'route', 'attempt'], ascii: ['key'] },
  ],
  [
    'responses',
    (run, field, fold) => {
      const parameters = { get: ['account', 'id'], holding: ['account', 'items'], delete: ['account', 'id'] }
      testResponseStore(run, () => folding(memoryResponseStore(), parameters, field, fold))
    },
    { any: ['account'], ascii: ['id', 'items'] },
  ],
]

describe.each(kits)('the suite of %s', (_, kit, { any, ascii }) => {
  const failures = (field: string, fold: Fold) =>
    failuresOf((run) => kit(run, field, fold), 'compares names byte for byte: case, accents and spaces count')

  test.each(folds)('finds a collation that ignores %s', async (what, fold) => {
    const fields = what === 'case' ? [...any, ...ascii] : any
    for (const field of fields) {
      expect(await failures(field, (text) => text)).toEqual([])
      expect([field, await failures(field, fold)]).toEqual([field, [expect.any(String)]])
    }
  })
})
