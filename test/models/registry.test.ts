import { describe, expect, test } from 'vitest'
import type { ModelEntries } from '../../src/models/model-options.ts'
import { registryOf } from '../../src/models/model-set.ts'
import { modelSetOf } from '../../src/models/registry.ts'
import type { ModelObject } from '../../src/wire/model.ts'

const listed = (id: string): ModelObject => ({ id, object: 'model', created: 1, owned_by: 'vendor' })

function staticRegistry(entries: ModelEntries, now: () => number) {
  return registryOf([modelSetOf(entries, { now })], now)
}

/** A registry with one vendor, whose models are listed with `fetchList`. */
function listing(fetchList: (signal: AbortSignal) => Promise<readonly ModelObject[]>) {
  let now = 1_000_000
  let fetches = 0
  const models = ({ signal }: { signal: AbortSignal }) => {
    fetches++
    return fetchList(signal)
  }
  const registry = staticRegistry({ 'v/*': { name: 'v', models } }, () => now)
  const list = async (signal = new AbortController().signal) => (await registry.list(signal)).map(({ id }) => id)
  return { list, fetches: () => fetches, later: (ms: number) => (now += ms) }
}

describe('the list of a vendor’s models', () => {
  test('is fetched once for concurrent requests and cached for five minutes', async () => {
    const { list, fetches, later } = listing(async () => [listed('a')])
    expect(await Promise.all([list(), list(), list()])).toEqual([['v/a'], ['v/a'], ['v/a']])
    later(300_000)
    await list()
    expect(fetches()).toBe(1)
    later(1)
    await list()
    expect(fetches()).toBe(2)
  })

  test('is fetched to the end even if the first client disconnects', async () => {
    const answer = Promise.withResolvers<readonly ModelObject[]>()
    const { list } = listing((signal) => {
      signal.addEventListener('abort', () => answer.reject(signal.reason))
      return answer.promise
    })
    const client = new AbortController()
    const [first, second] = [list(client.signal), list()]
    client.abort()
    answer.resolve([listed('a')])
    expect(await Promise.all([first, second, list()])).toEqual([['v/a'], ['v/a'], ['v/a']])
  })

  test('stays the last known one while the vendor is down, and is fetched again soon', async () => {
    let down = false
    const { list, fetches, later } = listing(async () => {
      if (down) throw new Error('down')
      return [listed('a')]
    })
    await list()
    down = true
    later(300_001)
    expect(await list()).toEqual(['v/a'])
    down = false
    later(4_000)
    await list()
    expect(fetches()).toBe(2)
    later(2_000)
    await list()
    expect(fetches()).toBe(3)
  })
})

test('a step of a route uses its providerModel, else the name of the model', async () => {
  const provider = { name: 'vendor' }
  const route = [{ provider, providerModel: 'theirs' }, { provider }]
  const registry = staticRegistry({ ours: { route } }, () => 0)
  const model = await registry.find('ours')
  expect(model?.deployments.map(({ model: name }) => name)).toEqual(['theirs', 'ours'])
})
