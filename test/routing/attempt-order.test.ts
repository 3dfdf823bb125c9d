import { describe, expect, test } from 'vitest'
import type { Deployment } from '../../src/models/contract.ts'
import { attemptOrder, fittingFirst } from '../../src/routing/attempt-order.ts'
import { seeded } from '../../src/testing/random.ts'

const rounds = 20_000

/** Share of the draws of each order of names. */
function shares(...deployments: [name: string, order: number, weight: number][]): Record<string, number> {
  const random = seeded(42)
  const all = deployments.map(([name, order, weight]): Deployment => ({
    provider: { name },
    model: name,
    order,
    weight,
  }))
  const counts: Record<string, number> = {}
  for (let round = 0; round < rounds; round++) {
    const names = attemptOrder(all, random)
      .map(({ model }) => model)
      .join('')
    counts[names] = (counts[names] ?? 0) + 1 / rounds
  }
  return counts
}

describe('a request that seems too long for some deployments', () => {
  const windowed = (name: string, contextWindow?: number): Deployment => ({
    provider: { name },
    model: name,
    order: 0,
    weight: 1,
    ...(contextWindow !== undefined && { contextWindow }),
  })
  const names = (promptTokens: number, ...deployments: readonly Deployment[]) =>
    fittingFirst(deployments, { promptTokens })
      .map(({ model }) => model)
      .join('')

  test('tries those that seem to fit first, and the others after them', () => {
    const deployments = [windowed('s', 8_000), windowed('m', 32_000), windowed('u'), windowed('l', 128_000)]
    expect(names(1_000, ...deployments)).toBe('smul')
    expect(names(10_000, ...deployments)).toBe('muls')
    expect(names(1_000_000, ...deployments)).toBe('usml')
  })
})

describe('the order in which deployments are called:', () => {
  test('by their order, whatever their weights', () => {
    expect(shares(['b', 2, 100], ['a', 1, 1], ['c', 3, 1_000])).toEqual({ abc: expect.closeTo(1, 6) as number })
  })

  test('within one order, the first is drawn by weight', () => {
    const counts = shares(['a', 0, 7], ['b', 0, 3])
    expect(counts['ab']).toBeCloseTo(0.7, 1)
    expect(counts['ba']).toBeCloseTo(0.3, 1)
  })

  test('the second is drawn by weight among the rest', () => {
    const counts = shares(['a', 0, 5], ['b', 0, 3], ['c', 0, 2])
    expect(counts['abc']).toBeCloseTo(0.5 * (3 / 5), 1)
    expect(counts['acb']).toBeCloseTo(0.5 * (2 / 5), 1)
    expect(counts['bac']).toBeCloseTo(0.3 * (5 / 7), 1)
    expect(counts['cba']).toBeCloseTo(0.2 * (3 / 8), 1)
  })

  test('weight 0 comes after all others of its order', () => {
    expect(Object.keys(shares(['a', 0, 0], ['b', 0, 1], ['c', 1, 1]))).toEqual(['bac'])
  })

  test('every deployment is in every plan once', () => {
    expect(Object.keys(shares(['a', 0, 1], ['b', 0, 1], ['c', 0, 1])).sort()).toEqual(
      'abc acb bac bca cab cba'.split(' '),
    )
  })
})
