import { describe, expect, test } from 'vitest'
import { staticRegistry } from '../../src/models/registry.ts'
import type { ModelObject } from '../../src/wire/model.ts'

const listed = (id: string): ModelObject => ({ id, object: 'model', created: 1, owned_by: 'vendor' })

/** A registry over one vendor, which is asked for its models as `ask` says. */
function over(ask: (signal: AbortSignal) => Promise<readonly ModelObject[]>) {
  let now = 1_000_000
  let asked = 0
  const models = ({ signal }: { signal: AbortSignal }) => {
    asked++
    return ask(signal)
  }
  const registry = staticRegistry({ 'v/*': { name: 'v', models } }, { now: () => now, listAgeMs: 60_000 })
  const list = async (signal = new AbortController().signal) => (await registry.list(signal)).map(({ id }) => id)
  return { list, asked: () => asked, later: (ms: number) => (now += ms) }
}

describe('the list of a vendor’s models', () => {
  test('is asked for once by all who want it at the same time, and then kept for a while', async () => {
    const { list, asked, later } = over(async () => [listed('a')])
    expect(await Promise.all([list(), list(), list()])).toEqual([['v/a'], ['v/a'], ['v/a']])
    later(60_000)
    await list()
    expect(asked()).toBe(1)
    later(1)
    await list()
    expect(asked()).toBe(2)
  })

  test('does not depend on whether the client that asked first stays', async () => {
    const answer = Promise.withResolvers<readonly ModelObject[]>()
    const { list } = over((signal) => {
      signal.addEventListener('abort', () => answer.reject(signal.reason))
      return answer.promise
    })
    const client = new AbortController()
    const [first, second] = [list(client.signal), list()]
    client.abort()
    answer.resolve([listed('a')])
    expect(await Promise.all([first, second, list()])).toEqual([['v/a'], ['v/a'], ['v/a']])
  })

  test('is the one it gave last while the vendor is down, and is asked for again soon', async () => {
    let down = false
    const { list, asked, later } = over(async () => {
      if (down) throw new Error('down')
      return [listed('a')]
    })
    await list()
    down = true
    later(60_001)
    expect(await list()).toEqual(['v/a'])
    down = false
    later(4_000)
    await list()
    expect(asked()).toBe(2)
    later(2_000)
    await list()
    expect(asked()).toBe(3)
  })
})

test('a step of a route is asked for the model by the provider’s own name for it', async () => {
  const provider = { name: 'vendor' }
  const route = [{ provider, providerModel: 'theirs' }, { provider }]
  const registry = staticRegistry({ ours: { route } }, { now: () => 0 })
  const model = await registry.find('ours')
  expect(model?.deployments.map(({ model: name }) => name)).toEqual(['theirs', 'ours'])
})
