/** The tests of the usage store contract for sums of which only some rows are needed. */
import assert from 'node:assert/strict'
import type { UsageStore } from '../observe/usage/contract.ts'
import type { SeriesDimension } from '../observe/usage/row-selection.ts'
import { fresh, oddNames, type Suite } from './kit.ts'
import { record, start } from './usage-sums.ts'

const day = 86_400_000

export function testLargest(it: Suite<UsageStore>['it']): void {
  it('returns at least the rows that are needed, ordered as all', async (store, other) => {
    const account = fresh('account')
    const names = ['', 'plain', ...oddNames]
    await store.append(
      names.flatMap((user, index) => [
        record({ account, model: `m${index}`, ...(user !== '' && { user }), cost: BigInt(index) }),
        record({
          account,
          model: `m${index}`,
          ...(user !== '' && { user }),
          startedAt: start + 2 * day,
          cost: 2n ** 40n,
        }),
      ]),
    )
    const wanted: [SeriesDimension, readonly string[]][] = [
      ['user', names.slice(1, 3)],
      ['user', oddNames],
      ['user', [fresh('user')]],
      ['user', []],
      ['model', ['m1', 'm2', fresh('model')]],
      ['account', [account]],
      ['group', ['default']],
      ['endpoint', ['none']],
      ['key', ['none']],
    ]
    for (const [dimension, values] of wanted) {
      const question = { account, by: [dimension, 'day'] as const }
      const needed = (rows: Awaited<ReturnType<UsageStore['summarise']>>) =>
        rows.filter((row) => values.includes(row[dimension] ?? ''))
      const all = await other.summarise(question)
      const some = await other.summarise({ ...question, only: { dimension, values } })
      assert.deepEqual(needed(some), needed(all), JSON.stringify([dimension, values]))
    }
  })

  it('returns at least the largest rows, ordered as all', async (store, other) => {
    const account = fresh('account')
    const sizes = [5, 1, 9, 3, 7]
    await store.append(
      sizes.map((size, index) =>
        record({
          account,
          model: `m${index}`,
          cost: 2n ** 40n * BigInt(size),
          promptTokens: 100 - size,
          completionTokens: 0,
        }),
      ),
    )
    await store.append([record({ account, model: 'm1' }), record({ account, model: 'm1' })])
    const needed = { cost: ['m2', 'm4'], tokens: ['m1', 'm3'], requests: ['m1'] } as const
    for (const [measure, models] of Object.entries(needed)) {
      const largest = { measure: measure as keyof typeof needed, most: models.length }
      const rows = await other.summarise({ account, by: ['model'], largest })
      const found = rows.map(({ model }) => model)
      assert.deepEqual(
        found,
        found.toSorted((left = '', right = '') => (left < right ? -1 : 1)),
        measure,
      )
      assert.deepEqual(
        models.filter((model) => !found.includes(model)),
        [],
        measure,
      )
    }
    const [all] = await other.summarise({ account, by: [], largest: { measure: 'cost', most: 1 } })
    assert.equal(all?.requests, 7)
  })
}
