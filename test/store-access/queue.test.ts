import { describe, expect, test } from 'vitest'
import { Queue } from '../../src/store-access/queue.ts'

function queueTo(send: (batch: readonly string[]) => Promise<void> | void, most = 1_000) {
  const dropped: string[] = []
  const queue = new Queue<string>({ send, most, dropped: (item) => dropped.push(item) })
  return { queue, dropped }
}

describe('what is told after the answer', () => {
  test('is told at once where the store takes it at once', () => {
    const told: string[] = []
    const { queue } = queueTo((batch) => void told.push(...batch))
    queue.add('a')
    expect(told).toEqual(['a'])
    expect(queue.size).toBe(0)
  })

  test('goes in batches while the store is slow, in order', async () => {
    const batches: string[][] = []
    const open = Promise.withResolvers<void>()
    const { queue } = queueTo((batch) => {
      batches.push([...batch])
      return open.promise
    })
    const items = Array.from({ length: 150 }, (_, index) => String(index))
    for (const item of items) queue.add(item)
    open.resolve()
    await queue.idle(1_000)
    expect(batches.map((batch) => batch.length)).toEqual([1, 100, 49])
    expect(batches.flat()).toEqual(items)
  })

  test('is told again until it is taken, and one that never is holds up no other', async () => {
    const told: string[] = []
    const { queue } = queueTo(async (batch) => {
      if (batch.includes('poison')) throw new Error('refused')
      told.push(...batch)
    })
    for (const item of ['a', 'poison', 'b', 'c']) queue.add(item)
    await expect.poll(() => told).toEqual(['a', 'b', 'c'])
    expect(queue.size).toBe(1)
    await queue.drain(0)
  })

  test('is dropped where there is no room, and when the end comes, each told once', async () => {
    const { queue, dropped } = queueTo(() => new Promise(() => undefined), 2)
    for (const item of ['a', 'b', 'c']) queue.add(item)
    expect(queue.full).toBe(true)
    expect(dropped).toEqual(['c'])
    await queue.drain(10)
    expect(dropped).toEqual(['c', 'a', 'b'])
  })

  test('is not told again once it was dropped, whatever becomes of the call that was under way', async () => {
    let sent = 0
    const answer = Promise.withResolvers<void>()
    const { queue, dropped } = queueTo(() => {
      sent++
      return answer.promise
    })
    queue.add('a')
    await queue.drain(0)
    answer.reject(new Error('the store was closed'))
    await expect(answer.promise).rejects.toThrow()
    expect([queue.size, sent, dropped]).toEqual([0, 1, ['a']])
  })

  test('is waited for at the end', async () => {
    const told: string[] = []
    const open = Promise.withResolvers<void>()
    const { queue, dropped } = queueTo(async (batch) => {
      await open.promise
      told.push(...batch)
    })
    for (const item of ['a', 'b']) queue.add(item)
    const drained = queue.drain(1_000)
    open.resolve()
    await drained
    expect([told, dropped]).toEqual([['a', 'b'], []])
  })
})
