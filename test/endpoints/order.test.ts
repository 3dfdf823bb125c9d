import { expect, it } from 'vitest'
import { amend, callFor, jsonOrder, replace } from '../../src/endpoints/order.ts'
import { cancellationOf, Canceller } from '../../src/http/cancellation.ts'
import { JsonBody } from '../../src/http/json-body.ts'
import { defaultSizes } from '../../src/http/sizes.ts'
import type { Call } from '../../src/providers/contract.ts'

const bodies = { short: 'hello', long: 'hello '.repeat(10_000) }

for (const [length, content] of Object.entries(bodies)) {
  const request = { model: 'm', messages: [{ role: 'user', content }] }
  const called = () => {
    const cancellation = new Canceller()
    const order = jsonOrder<object>(JsonBody.fromBytes(Buffer.from(JSON.stringify(request)), defaultSizes))
    const head = {
      id: 'req_1',
      cancellation,
      model: 'm',
      openModel: false,
      maxOutputTokens: undefined,
      sent: undefined,
    }
    return { cancellation, call: callFor(order, head) }
  }
  const copies: Record<string, (call: Call<object>) => Call<object>> = {
    itself: (call) => call,
    'a copy by spread': (call) => ({ ...call }),
    'a copy by inheritance': (call) => Object.create(call) as Call<object>,
    'an amended copy': (call) => amend(call, { user: 'u' }),
    'a call for another request': (call) => replace(call, { model: 'm' }),
  }

  for (const [name, copied] of Object.entries(copies)) {
    it(`the signal of a call with a ${length} body is that of its request: ${name}`, () => {
      const { cancellation, call } = called()
      const copy = copied(call)
      expect(copy.signal.aborted).toBe(false)
      cancellation.abort('gone')
      expect([copy.signal.reason, cancellationOf(copy).reason]).toEqual(['gone', 'gone'])
    })
  }

  it(`a copy with another signal of a call with a ${length} body is cancelled by that signal`, () => {
    const other = new AbortController()
    const { call } = called()
    const own = [
      { ...call, signal: other.signal },
      amend(call, {}, other.signal),
      replace(call, { model: 'm' }, other.signal),
      amend(amend(call, {}, other.signal), { user: 'u' }),
      Object.assign({}, call, { signal: other.signal }),
    ]
    for (const copy of own) expect([cancellationOf(copy), copy.signal]).toEqual([other.signal, other.signal])
  })

  it(`the fields of a call with a ${length} body are enumerable, apart from those for the gateway's own providers`, () => {
    const { call } = called()
    expect(Object.keys(call)).toContain('signal')
    expect(Object.keys(call)).not.toContain('cancellation')
    expect({ ...call }.request).toEqual(request)
  })
}
