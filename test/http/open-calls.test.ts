import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { OpenCalls, unlessAborted } from '../../src/http/open-calls.ts'

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

describe('a promise under a signal', () => {
  it('settles normally if the signal is not aborted', async () => {
    expect(await unlessAborted(Promise.resolve(1), still())).toBe(1)
    await expect(unlessAborted(Promise.reject(new Error('no')), still())).rejects.toThrow('no')
  })

  it('rejects at once with the reason, and passes on a late result', async () => {
    const control = new AbortController()
    const slow = Promise.withResolvers<string>()
    let late = ''
    const waited = unlessAborted(slow.promise, control.signal, (value) => (late = value))
    control.abort(closing)
    await expect(waited).rejects.toBe(closing)
    slow.resolve('too late')
    await slow.promise
    expect(late).toBe('too late')
    const lost = unlessAborted(Promise.reject(new Error('ignored')), control.signal)
    await expect(lost).rejects.toBe(closing)
  })
})
