import { describe, expect, it } from 'vitest'
import { cancellationOf, Canceller } from '../../src/http/cancellation.ts'

function listener(called: string[], name: string, act?: () => void) {
  return {
    handleEvent() {
      called.push(name)
      act?.()
    },
  }
}

describe('a canceller', () => {
  it('calls each listener once, with the first reason set', () => {
    const work = new Canceller()
    const called: string[] = []
    const one = listener(called, 'one', () => expect([work.aborted, work.reason]).toEqual([true, 'first']))
    work.addEventListener('abort', one)
    work.addEventListener('abort', one)
    work.addEventListener('abort', listener(called, 'two'))
    work.abort('first')
    work.abort('second')
    expect([called, work.reason]).toEqual([['one', 'two'], 'first'])
  })

  it('does not call removed listeners, not even those that an earlier one removes', () => {
    const work = new Canceller()
    const called: string[] = []
    const [gone, late] = [listener(called, 'gone'), listener(called, 'late')]
    work.addEventListener('abort', gone)
    work.addEventListener(
      'abort',
      listener(called, 'kept', () => work.removeEventListener('abort', late)),
    )
    work.addEventListener('abort', late)
    work.removeEventListener('abort', gone)
    work.removeEventListener('abort', gone)
    work.abort('over')
    expect(called).toEqual(['kept'])
  })

  it('makes one real signal, before or after it was cancelled', () => {
    const before = new Canceller()
    const { signal } = before
    expect([signal.aborted, before.signal]).toEqual([false, signal])
    before.abort('reason')
    const after = new Canceller()
    after.abort('reason')
    expect([signal.reason, after.signal.reason]).toEqual(['reason', 'reason'])
    expect(after.signal).toBeInstanceOf(AbortSignal)
  })

  it('counts instead of a signal only where there is one', () => {
    const { signal } = new AbortController()
    const cancellation = new Canceller()
    expect([cancellationOf({ signal }), cancellationOf({ signal, cancellation })]).toEqual([signal, cancellation])
  })
})
