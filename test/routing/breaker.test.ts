import { describe, expect, test } from 'vitest'
import type { Deployment } from '../../src/models/contract.ts'
import type { Provider } from '../../src/providers/contract.ts'
import { Breaker } from '../../src/routing/breaker.ts'

const provider: Provider = { name: 'p' }
const at = (model: string): Deployment => ({ provider, model, order: 0, weight: 1 })
const a = at('a')
const b = at('b')

function watched() {
  let now = 1_000
  const breaker = new Breaker({ failures: 3, coolDownMs: 100 }, () => now)
  return {
    breaker,
    later: (ms: number) => (now += ms),
    fail: (times: number, deployment = a) => {
      for (let time = 0; time < times; time++) breaker.failed(deployment)
    },
    usable: () =>
      breaker
        .usable([a, b])
        .map(({ model }) => model)
        .join(''),
  }
}

describe('a deployment is skipped', () => {
  test('after `failures` consecutive failures, not before', () => {
    const { fail, usable } = watched()
    fail(2)
    expect(usable()).toBe('ab')
    fail(1)
    expect(usable()).toBe('b')
  })

  test('not if a success comes between the failures', () => {
    const { breaker, fail, usable } = watched()
    fail(2)
    breaker.succeeded(a)
    fail(2)
    expect(usable()).toBe('ab')
  })

  test('until coolDownMs has passed', () => {
    const { fail, later, usable } = watched()
    fail(3)
    later(99)
    expect(usable()).toBe('b')
    later(1)
    expect(usable()).toBe('ab')
  })

  test('again after one more failure once coolDownMs has passed', () => {
    const { fail, later, usable } = watched()
    fail(3)
    later(100)
    fail(1)
    expect(usable()).toBe('b')
  })

  test('by all other requests while one tries it', () => {
    const { breaker, fail, later, usable } = watched()
    fail(3)
    later(100)
    expect(usable()).toBe('ab')
    breaker.trying(a)
    expect(usable()).toBe('b')
    breaker.succeeded(a)
    expect(usable()).toBe('ab')
  })

  test('only for coolDownMs if the request that tries it never ends', () => {
    const { breaker, fail, later, usable } = watched()
    fail(3)
    later(100)
    breaker.trying(a)
    later(100)
    expect(usable()).toBe('ab')
  })

  test('without affecting other models of its provider', () => {
    const { fail, usable } = watched()
    fail(3, b)
    expect(usable()).toBe('a')
  })
})

test('if all deployments would be skipped, none is', () => {
  const { fail, usable, breaker } = watched()
  fail(3)
  fail(3, b)
  expect(usable()).toBe('ab')
  expect(breaker.usable([a])).toEqual([a])
})

test('failures of many made-up model names do not affect other models', () => {
  const { breaker } = watched()
  for (let name = 0; name < 5_000; name++) breaker.failed(at(`made-up-${name}`))
  const { fail, usable } = watched()
  fail(3)
  expect(usable()).toBe('b')
})

test('providers of callers with keys of their own come and go: those that have failed last are reported', () => {
  const { breaker, fail } = watched()
  for (let key = 0; key < 3_000; key++) fail(3, { ...a, provider: { name: `p${key}` } })
  const { length, [length - 1]: last } = breaker.open
  expect([length, last?.provider]).toEqual([1_000, 'p2999'])
})
