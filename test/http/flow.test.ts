import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Flow, type Receiver } from '../../src/http/flow.ts'
import { flowAfter, flowOf } from '../../src/http/flow-of.ts'

/** A receiver that notes what it gets, and pauses its flow after the pieces in `pausing`. */
class Noted implements Receiver<string> {
  readonly notes: string[] = []
  readonly #flow: Flow<string>
  readonly #pausing: readonly string[]

  constructor(flow: Flow<string>, pausing: readonly string[] = []) {
    this.#flow = flow
    this.#pausing = pausing
    flow.start(this)
  }

  receive(pieces: readonly string[], last: boolean): void {
    this.notes.push(...pieces, ...(last ? ['end'] : []))
    if (pieces.some((piece) => this.#pausing.includes(piece))) this.#flow.pause()
  }

  fail(error: unknown): void {
    this.notes.push(`failed: ${String(error)}`)
  }
}

/** A flow whose pieces the test pushes. */
class Scripted extends Flow<string> {
  receiver: Receiver<string> | undefined
  stopped = false
  paused = true

  start(receiver: Receiver<string>): void {
    this.receiver = receiver
    this.paused = false
  }

  pause(): void {
    this.paused = true
  }

  stop(): void {
    this.stopped = true
  }
}

async function* letters(...all: string[]) {
  for (const letter of all) {
    if (letter === 'boom') throw new Error(letter)
    yield letter
  }
}

async function allOf(pieces: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

describe('a flow of an async iterable', () => {
  test('delivers its pieces and its end', async () => {
    const { notes } = new Noted(flowOf(letters('a', 'b')))
    await turn()
    expect(notes).toEqual(['a', 'b', 'end'])
  })

  test('asks for nothing while it is paused, and goes on where it was', async () => {
    const flow = flowOf(letters('a', 'b', 'c'))
    const noted = new Noted(flow, ['a', 'b'])
    await turn()
    expect(noted.notes).toEqual(['a'])
    flow.start(noted)
    await turn()
    flow.start(noted)
    await turn()
    expect(noted.notes).toEqual(['a', 'b', 'c', 'end'])
  })

  test('fails after the pieces before the error', async () => {
    const { notes } = new Noted(flowOf(letters('a', 'boom')))
    await turn()
    expect(notes).toEqual(['a', 'failed: Error: boom'])
  })

  test.each<[string, unknown]>([
    ['has no iterator', () => undefined],
    ['throws', () => { throw new TypeError('x') }], // prettier-ignore
    ['has an iterator without methods', () => ({})],
    ['returns nothing', () => ({ next: () => undefined })],
  ])('fails if its source %s, and can be stopped', async (_, iterator) => {
    const source = { [Symbol.asyncIterator]: iterator } as AsyncIterable<string>
    const { notes } = new Noted(flowOf(source))
    await turn()
    expect(notes).toEqual([expect.stringMatching(/^failed: TypeError/)])
    flowOf(source).stop()
  })

  test('ends its source when it is stopped, also before it was started', async () => {
    for (const started of [true, false]) {
      let cleaned = false
      const source = async function* () {
        try {
          yield 'a'
          await new Promise(() => undefined)
        } finally {
          cleaned = true
        }
      }
      const flow = flowOf(source())
      const notes = started ? new Noted(flow, ['a']).notes : []
      await turn()
      flow.stop()
      await turn()
      expect([notes, cleaned]).toEqual([started ? ['a'] : [], true])
    }
  })
})

describe('the iterator of a flow', () => {
  test('lets the flow run only while a reader waits', async () => {
    const flow = new Scripted()
    const pieces = flow[Symbol.asyncIterator]()
    expect(flow.paused).toBe(true)
    const first = pieces.next()
    flow.receiver?.receive(['a', 'b'], false)
    expect([flow.paused, await first, await pieces.next()]).toEqual([
      true,
      { done: false, value: 'a' },
      { done: false, value: 'b' },
    ])
    const last = pieces.next()
    flow.receiver?.receive([], true)
    expect([await last, await pieces.next()]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ])
  })

  test('throws after the pieces that were delivered before the failure', async () => {
    const flow = new Scripted()
    const pieces = flow[Symbol.asyncIterator]()
    const first = pieces.next()
    flow.receiver?.receive(['a', 'b'], false)
    flow.receiver?.fail(new Error('boom'))
    expect([(await first).value, (await pieces.next()).value]).toEqual(['a', 'b'])
    await expect(pieces.next()).rejects.toThrow('boom')
    expect((await pieces.next()).done).toBe(true)
  })

  test('stops the flow when the reader stops', async () => {
    const flow = new Scripted()
    const pieces = flow[Symbol.asyncIterator]()
    const waiting = pieces.next()
    await pieces.return?.()
    expect([flow.stopped, (await waiting).done]).toEqual([true, true])
  })

  test('of an iterable is the iterable again', async () => {
    const flow = flowOf(letters('a', 'b', 'c'))
    expect(await allOf(flow)).toEqual(['a', 'b', 'c'])
    await expect(allOf(flowOf(letters('a', 'boom')))).rejects.toThrow('boom')
  })
})

describe('the flow after a promise', () => {
  test('is that of its source', async () => {
    const { notes } = new Noted(flowAfter(Promise.resolve(letters('a'))))
    await turn()
    expect(notes).toEqual(['a', 'end'])
  })

  test('fails if the promise rejects, however late it is started', async () => {
    const flow = flowAfter<string>(Promise.reject(new Error('late')))
    await turn()
    const { notes } = new Noted(flow)
    await turn()
    expect(notes).toEqual(['failed: Error: late'])
  })

  test('stops the source that arrives after it was stopped', async () => {
    const source = new Scripted()
    const pending = Promise.withResolvers<Flow<string>>()
    const flow = flowAfter(pending.promise)
    const { notes } = new Noted(flow)
    flow.stop()
    pending.resolve(source)
    await turn()
    expect([source.stopped, notes]).toEqual([true, []])
  })
})
