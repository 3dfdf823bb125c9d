import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Queue } from '../../src/records/queue.ts'

function queueTo(send: (batch: readonly string[]) => Promise<void> | void, most = 1_000) {
  const dropped: string[] = []
  const queue = new Queue<string>({ send, most, waitMs: 250, dropped: (item) => dropped.push(item) })
  return { queue, dropped }
}

describe('a queued item', () => {
  test('is sent synchronously if the store is synchronous', () => {
    const sent: string[] = []
    const { queue } = queueTo((batch) => void sent.push(...batch))
    queue.add('a')
    expect(sent).toEqual(['a'])
    expect(queue.size).toBe(0)
  })

  test('is sent in order, in batches while the store is slow', async () => {
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

  describe('after a batch that was sent a moment ago', () => {
    const paced = async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      onTestFinished(() => void vi.useRealTimers())
      const sizes: number[] = []
      const { queue } = queueTo(async ({ length }) => void sizes.push(length))
      queue.add('first')
      await setImmediate()
      return { queue, sizes }
    }

    test('waits for the next batch, five milliseconds later', async () => {
      const { queue, sizes } = await paced()
      for (const item of ['second', 'third']) queue.add(item)
      await vi.advanceTimersByTimeAsync(4)
      expect(sizes).toEqual([1])
      await vi.advanceTimersByTimeAsync(1)
      expect(sizes).toEqual([1, 2])
    })

    test('may wait longer, until one that may not is added', async () => {
      const { queue, sizes } = await paced()
      queue.add('second', true)
      await vi.advanceTimersByTimeAsync(249)
      expect(sizes).toEqual([1])
      await vi.advanceTimersByTimeAsync(1)
      expect(sizes).toEqual([1, 1])
      queue.add('third', true)
      await vi.advanceTimersByTimeAsync(100)
      queue.add('fourth')
      await vi.advanceTimersByTimeAsync(0)
      expect(sizes).toEqual([1, 1, 2])
    })

    test('may wait as long after a time without any', async () => {
      const { queue, sizes } = await paced()
      await vi.advanceTimersByTimeAsync(10_000)
      queue.add('second', true)
      await vi.advanceTimersByTimeAsync(249)
      queue.add('third', true)
      expect(sizes).toEqual([1])
      await vi.advanceTimersByTimeAsync(1)
      expect(sizes).toEqual([1, 2])
    })

    test('waits no longer once the queue is hurried', async () => {
      const { queue, sizes } = await paced()
      queue.add('second', true)
      await vi.advanceTimersByTimeAsync(5)
      expect(sizes).toEqual([1])
      queue.hurry()
      expect(sizes).toEqual([1, 1])
      await setImmediate()
      queue.hurry()
      queue.add('third', true)
      await vi.advanceTimersByTimeAsync(249)
      expect(sizes).toEqual([1, 1])
    })

    test('is sent at once if the batch is full', async () => {
      const { queue, sizes } = await paced()
      for (let item = 0; item < 100; item++) queue.add(String(item))
      expect(sizes).toEqual([1, 100])
    })

    test('is sent at once if the queue is awaited', async () => {
      const { queue, sizes } = await paced()
      queue.add('second')
      const accepted = queue.idle(1_000)
      expect(sizes).toEqual([1, 1])
      await accepted
    })
  })

  test('is retried until it is accepted, and does not delay others if it never is', async () => {
    const sent: string[] = []
    const { queue } = queueTo(async (batch) => {
      if (batch.includes('poison')) throw new Error('rejected')
      sent.push(...batch)
    })
    for (const item of ['a', 'poison', 'b', 'c']) queue.add(item)
    await expect.poll(() => sent).toEqual(['a', 'b', 'c'])
    expect(queue.size).toBe(1)
    await queue.drain(0)
  })

  test('is dropped, and reported once, when the queue is full and when it is drained', async () => {
    const { queue, dropped } = queueTo(() => new Promise(() => undefined), 2)
    for (const item of ['a', 'b', 'c']) queue.add(item)
    expect(queue.full).toBe(true)
    expect(dropped).toEqual(['c'])
    await queue.drain(10)
    expect(dropped).toEqual(['c', 'a', 'b'])
  })

  test('is not retried once it was dropped, even if its pending call fails', async () => {
    let sent = 0
    const response = Promise.withResolvers<void>()
    const { queue, dropped } = queueTo(() => {
      sent++
      return response.promise
    })
    queue.add('a')
    await queue.drain(0)
    response.reject(new Error('the store was closed'))
    await expect(response.promise).rejects.toThrow()
    expect([queue.size, sent, dropped]).toEqual([0, 1, ['a']])
  })

  test('is waited for by drain', async () => {
    const sent: string[] = []
    const open = Promise.withResolvers<void>()
    const { queue, dropped } = queueTo(async (batch) => {
      await open.promise
      sent.push(...batch)
    })
    for (const item of ['a', 'b']) queue.add(item)
    const drained = queue.drain(1_000)
    open.resolve()
    await drained
    expect([sent, dropped]).toEqual([['a', 'b'], []])
  })
})
