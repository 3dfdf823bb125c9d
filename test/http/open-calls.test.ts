import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { OpenCalls } from '../../src/http/open-calls.ts'

const still = () => new AbortController().signal
const closing = new GatewayError('service_unavailable')

/** Whether a promise is already settled. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  await new Promise((resolve) => setImmediate(resolve))
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
}

describe('open calls', () => {
  it('are aborted when their client disconnects, or has disconnected before', () => {
    const calls = new OpenCalls()
    const client = new AbortController()
    const call = calls.open(client.signal)
    expect([call.signal.aborted, call.disconnected]).toEqual([false, false])
    client.abort()
    expect([call.signal.reason, call.disconnected]).toEqual([expect.objectContaining({ code: 'client_closed' }), true])
    expect(calls.open(client.signal).signal.aborted).toBe(true)
  })

  it('end once, with the first reason', () => {
    const calls = new OpenCalls()
    const client = new AbortController()
    const call = calls.open(client.signal)
    call.done(closing)
    client.abort()
    call.done()
    expect(call.signal.reason).toBe(closing)
    expect(calls.size).toBe(0)
  })

  it('are counted until they are done, in any order, and cut in the order in which they were opened', () => {
    for (const done of [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2]]) {
      const calls = new OpenCalls()
      const opened = [0, 1, 2, 3].map(() => calls.open(still()))
      for (const [count, index] of done.entries()) {
        opened[index]?.done()
        opened[index]?.done()
        expect(calls.size).toBe(3 - count)
      }
      const cut: number[] = []
      for (const [index, call] of opened.entries()) {
        call.addEventListener('abort', {
          handleEvent() {
            cut.push(index)
            call.done()
          },
        })
      }
      calls.cut(closing)
      expect(cut).toEqual([0, 1, 2, 3].filter((index) => !done.includes(index)))
      expect(calls.size).toBe(0)
    }
  })

  it('that are done are not aborted when the client disconnects later', () => {
    const client = new AbortController()
    const call = new OpenCalls().open(client.signal)
    call.done()
    client.abort()
    expect(call.signal.aborted).toBe(false)
  })

  it('are waited for, and so are requests without a call', async () => {
    const calls = new OpenCalls()
    calls.enter()
    const emptied = calls.emptied(60_000)
    const call = calls.open(still())
    calls.leave()
    expect(await isSettled(emptied)).toBe(false)
    call.done()
    expect(await isSettled(emptied)).toBe(true)
    expect(await isSettled(new OpenCalls().emptied(60_000))).toBe(true)
  })

  it('are waited for until the time limit', async () => {
    const calls = new OpenCalls()
    calls.open(still())
    await calls.emptied(5)
    expect(calls.size).toBe(1)
  })

  it('are waited for without a time limit if the host sets none', async () => {
    const calls = new OpenCalls()
    const call = calls.open(still())
    const emptied = calls.emptied(Infinity)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await isSettled(emptied)).toBe(false)
    call.done()
    await emptied
  })

  it('are all aborted by cut, and so are those opened later', () => {
    const calls = new OpenCalls()
    const open = [calls.open(still()), calls.open(still())]
    calls.cut(closing)
    for (const call of [...open, calls.open(still())]) expect(call.signal.reason).toBe(closing)
  })

  it('are drained after their client disconnects, up to the time limit and the maximum number', async () => {
    const calls = new OpenCalls(1)
    const client = new AbortController()
    const [first, second] = [calls.open(client.signal, 10), calls.open(client.signal, 10)]
    client.abort()
    expect([first.disconnected, first.signal.aborted]).toEqual([true, false])
    expect([second.disconnected, second.signal.aborted]).toEqual([true, true])
    await new Promise((resolve) => first.signal.addEventListener('abort', resolve))
    first.done()
    const other = new AbortController()
    const next = calls.open(other.signal, 10)
    other.abort()
    expect([next.disconnected, next.signal.aborted]).toEqual([true, false])
    next.done()
  })
})
