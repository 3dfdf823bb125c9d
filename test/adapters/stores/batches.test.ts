import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { Batches } from '../../../adapters/stores/batches.ts'

interface Item {
  readonly id: string
  readonly poison?: boolean
}

/** Batches over a fake database that adds `!` to each id, and rejects a batch with a poison item. */
function opened(lanes = 1) {
  const sent: string[][] = []
  const gates: PromiseWithResolvers<void>[] = []
  let gated = false
  const batches = new Batches<Item, string>({
    async perform(items) {
      sent.push(items.map(({ id }) => id))
      if (gated) {
        const gate = Promise.withResolvers<void>()
        gates.push(gate)
        await gate.promise
      }
      if (items.some(({ poison }) => poison)) throw new RangeError('poison')
      return items.map(({ id }) => `${id}!`)
    },
    ids: ({ id }) => [id],
    isUndone: (error) => error instanceof RangeError,
    lanes,
  })
  const add = (...ids: string[]) => Promise.all(ids.map((id) => batches.add({ id })))
  return { batches, sent, gates, add, gate: () => void (gated = true) }
}

test('items added in one turn of the event loop are sent in one batch, and each gets its own result', async () => {
  const { sent, add } = opened()
  expect(await add('a', 'b', 'c')).toEqual(['a!', 'b!', 'c!'])
  expect(await add('d')).toEqual(['d!'])
  expect(sent).toEqual([['a', 'b', 'c'], ['d']])
})

test('items added while all lanes are busy are sent together when a lane is free', async () => {
  const { sent, gates, add, gate } = opened(2)
  gate()
  const all: Promise<unknown>[] = []
  for (const id of ['a', 'b', 'c', 'd']) {
    all.push(add(id))
    await turn()
  }
  expect(sent).toEqual([['a'], ['b']])
  gates[0]?.resolve()
  await expect.poll(() => sent).toEqual([['a'], ['b'], ['c', 'd']])
  for (const each of gates) each.resolve()
  await Promise.all(all)
})

test('a batch that has no result for half a second does not block the next one', async () => {
  const { sent, gates, add, gate } = opened()
  gate()
  const lost = add('lost')
  await turn()
  const next = add('next')
  await expect.poll(() => sent, { timeout: 5_000 }).toEqual([['lost'], ['next']])
  for (const each of gates) each.resolve()
  expect(await Promise.all([lost, next])).toEqual([['lost!'], ['next!']])
})

test('an item that the database rejects fails alone', async () => {
  const { batches, sent } = opened()
  const [first, second, third] = [{ id: 'a' }, { id: 'b', poison: true }, { id: 'c' }].map((item) => batches.add(item))
  await expect(second).rejects.toThrow('poison')
  expect(await Promise.all([first, third])).toEqual(['a!', 'c!'])
  expect(sent).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']])
})

test('an error that does not prove that the batch had no effect reaches every caller, and nothing is sent twice', async () => {
  let sent = 0
  const batches = new Batches<Item, string>({
    perform: () => Promise.reject(new Error(`connection lost ${++sent}`)),
    ids: ({ id }) => [id],
    isUndone: () => false,
    lanes: 1,
  })
  const failed = await Promise.allSettled([batches.add({ id: 'a' }), batches.add({ id: 'b' })])
  expect(failed.map((each) => String((each as PromiseRejectedResult).reason))).toEqual(
    Array.from({ length: 2 }, () => 'Error: connection lost 1'),
  )
})

test('items with the same id are sent in different batches, in their order', async () => {
  const { sent, add } = opened()
  expect(await add('a', 'b', 'a', 'a', 'c')).toEqual(['a!', 'b!', 'a!', 'a!', 'c!'])
  expect(sent).toEqual([['a', 'b', 'c'], ['a'], ['a']])
})

test('a batch has at most 100 items', async () => {
  const { sent, add } = opened()
  await add(...Array.from({ length: 250 }, (_, index) => String(index)))
  expect(sent.map((batch) => batch.length)).toEqual([100, 100, 50])
})

test('at most 10,000 items may wait, and one that has waited too long is rejected without being sent', async () => {
  const { batches, sent, gates, add, gate } = opened()
  gate()
  const first = add('first')
  await turn()
  const waiting = Array.from({ length: 10_000 }, (_, index) => batches.add({ id: String(index) }))
  await expect(batches.add({ id: 'one more' })).rejects.toThrow('too many pending calls')
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 2_001)
  gates[0]?.resolve()
  await first
  const ended = await Promise.allSettled(waiting)
  clock.mockRestore()
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['rejected']))
  await pause(10)
  expect(sent).toEqual([['first']])
})
