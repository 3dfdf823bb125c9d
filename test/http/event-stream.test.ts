import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { eventStream, type EventStreamOptions } from '../../src/http/event-stream.ts'
import type { Sink } from '../../src/http/exchange.ts'
import { Heartbeat } from '../../src/http/heartbeat.ts'
import { doneFrame, errorFrame, keepAliveFrame } from '../../src/http/sse.ts'

/** A client as a sink: reads while `reads` is true, and disconnects on `leave`. */
class Client implements Sink {
  text = ''
  closed = false
  over = false
  /** Whether the connection was cut. */
  cut = false
  reads = true
  #drained: (() => void)[] = []

  write(piece: string | Uint8Array): boolean {
    if (!this.closed) this.text += typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8')
    return this.reads
  }

  drained(): Promise<void> {
    return this.closed ? Promise.resolve() : new Promise((resolve) => this.#drained.push(resolve))
  }

  end(): void {
    this.over = this.closed = true
  }

  destroy(): void {
    this.cut = true
    this.leave()
  }

  leave(): void {
    this.closed = true
    this.read()
  }

  read(): void {
    this.reads = true
    for (const resolve of this.#drained.splice(0)) resolve()
  }
}

interface Ending {
  readonly outcome: string
  readonly code?: string | undefined
}

/** Starts a stream and resolves when it ends. */
function stream(frames: AsyncIterable<string | Uint8Array>, client: Client, changes: Partial<EventStreamOptions> = {}) {
  const ending = Promise.withResolvers<Ending>()
  const endings: Ending[] = []
  const body = eventStream(frames, {
    heartbeat: new Heartbeat(60_000),
    stallMs: 60_000,
    signal: new AbortController().signal,
    writing: () => undefined,
    failed: (error) => errorFrame(error),
    ended(outcome, error) {
      endings.push({ outcome, code: error?.code })
      ending.resolve({ outcome, code: error?.code })
    },
    ...changes,
  })
  body.start(client)
  return { ended: ending.promise, endings }
}

async function* some(...frames: string[]) {
  yield* frames
}

/** Never yields anything, and ignores its signal. */
function deaf(): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }
}

function wordless(): never {
  throw new Error('no words')
}

describe('an event stream', () => {
  it('writes one frame after the other and ends', async () => {
    const client = new Client()
    const { ended } = stream(some('a', 'b', doneFrame), client)
    expect(await ended).toEqual({ outcome: 'completed', code: undefined })
    expect([client.text, client.over]).toEqual([`ab${doneFrame}`, true])
  })

  it.each<[string, unknown, string]>([
    ['a GatewayError', new GatewayError('service_unavailable', { message: 'Later.' }), 'service_unavailable'],
    ['any other error', new Error('secret'), 'server_error'],
    ['nothing at all', undefined, 'server_error'],
    ['a string', 'secret', 'server_error'],
  ])('whose source throws %s ends with an error frame and without [DONE]', async (_, thrown, code) => {
    const client = new Client()
    const frames = async function* () {
      yield 'a'
      throw thrown
    }
    const { ended } = stream(frames(), client)
    expect(await ended).toEqual({ outcome: 'failed', code })
    expect(client.text).toMatch(new RegExp(`^adata: \\{"error":\\{.*"code":"${code}"\\}\\}\n\n$`))
    expect(client.text).not.toContain('secret')
    expect(client.over).toBe(true)
  })

  it('ends with a generic error frame when the error frame cannot be made', async () => {
    const client = new Client()
    const frames = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('cut')) }) }
    const { ended } = stream(frames, client, { failed: wordless })
    expect(await ended).toEqual({ outcome: 'failed', code: 'server_error' })
    expect(client.text).toContain('"code":"server_error"')
  })

  it('pulls nothing more while the client does not read', async () => {
    const client = new Client()
    let pulled = 0
    const frames = async function* () {
      for (pulled = 1; pulled <= 3; pulled++) yield String(pulled)
    }
    client.reads = false
    const { ended } = stream(frames(), client)
    await turn()
    expect(pulled).toBe(1)
    client.read()
    await ended
    expect(client.text).toBe('123')
  })

  it('disconnects a client that reads nothing for too long', async () => {
    const client = new Client()
    client.reads = false
    const { ended } = stream(some('a', 'b'), client, { stallMs: 10 })
    expect(await ended).toEqual({ outcome: 'cancelled', code: 'client_closed' })
    expect([client.text, client.cut]).toEqual(['a', true])
  })

  it('ends its source when the client disconnects', async () => {
    const client = new Client()
    let released = false
    const frames = async function* () {
      try {
        yield 'a'
        client.leave()
        yield 'b'
        yield 'c'
      } finally {
        released = true
      }
    }
    const { ended } = stream(frames(), client)
    expect(await ended).toEqual({ outcome: 'cancelled', code: 'client_closed' })
    await turn()
    expect([client.text, released]).toEqual(['a', true])
  })

  it('that is never started ends its source too when it is aborted', async () => {
    const client = new Client()
    client.closed = true
    let released = false
    const frames = async function* () {
      try {
        yield 'a'
        yield 'b'
      } finally {
        released = true
      }
    }
    const { ended } = stream(frames(), client)
    expect((await ended).outcome).toBe('cancelled')
    await turn()
    expect([client.text, released]).toEqual(['', true])
  })

  it('ends at once when its signal is aborted, even if the source ignores the signal', async () => {
    for (const early of [true, false]) {
      const client = new Client()
      const control = new AbortController()
      const reason = new GatewayError('service_unavailable')
      if (early) control.abort(reason)
      const { ended, endings } = stream(deaf(), client, { signal: control.signal })
      if (!early) control.abort(reason)
      expect(await ended).toEqual({ outcome: 'failed', code: 'service_unavailable' })
      expect(client.text).toMatch(/^data: \{"error":.*\n\n$/)
      expect([client.over, endings.length]).toEqual([true, 1])
    }
  })

  it('writes nothing after its end, even if the source goes on', async () => {
    const client = new Client()
    const control = new AbortController()
    const frames = async function* () {
      yield 'a'
      control.abort(new GatewayError('service_unavailable'))
      yield 'b'
    }
    const { ended, endings } = stream(frames(), client, { signal: control.signal })
    await ended
    await turn()
    expect(client.text).toMatch(/^adata: \{"error":.*\n\n$/)
    expect(endings).toEqual([{ outcome: 'failed', code: 'service_unavailable' }])
  })

  it('sends its opening before a first frame that takes long', async () => {
    const client = new Client()
    stream(deaf(), client, { opening: 'opening' })
    expect(client.text).toBe('opening')
  })
})

describe('the keep-alive of event streams', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is a comment whenever nothing was written for the interval', () => {
    const client = new Client()
    stream(deaf(), client, { heartbeat: new Heartbeat(1_000) })
    vi.advanceTimersByTime(3_500)
    expect(client.text).toBe(keepAliveFrame.repeat(3))
  })

  it('is not written while there are frames', async () => {
    const client = new Client()
    const next = Array.from({ length: 4 }, () => Promise.withResolvers<string>())
    const frames = async function* () {
      for (const { promise } of next) yield await promise
    }
    stream(frames(), client, { heartbeat: new Heartbeat(1_000) })
    for (const { resolve } of next) {
      vi.advanceTimersByTime(700)
      resolve('a')
      await turn()
    }
    expect(client.text).toBe('aaaa')
  })

  it('is not written to a client that does not read', async () => {
    const client = new Client()
    client.reads = false
    stream(some('a', 'b'), client, { heartbeat: new Heartbeat(1_000) })
    await turn()
    vi.advanceTimersByTime(5_000)
    expect(client.text).toBe('a')
  })

  it('fails a stream whose source stays silent for the given number of heartbeats after its first frame', async () => {
    const client = new Client()
    const next = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const frames = async function* () {
      for (const { promise } of next) yield await promise
      await new Promise(() => undefined)
    }
    const { ended } = stream(frames(), client, { heartbeat: new Heartbeat(1_000), silentBeats: 3 })
    vi.advanceTimersByTime(10_000)
    client.text = ''
    for (const { resolve } of next) {
      resolve('a')
      await turn()
      vi.advanceTimersByTime(2_500)
    }
    expect(client.text).toBe(`a${keepAliveFrame.repeat(2)}`.repeat(2))
    vi.advanceTimersByTime(1_000)
    expect(await ended).toEqual({ outcome: 'failed', code: 'service_unavailable' })
    expect(client.over).toBe(true)
    vi.advanceTimersByTime(1_000)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('uses one timer for all streams, and none once there are no more streams or it is closed', async () => {
    const heartbeat = new Heartbeat(1_000)
    expect(vi.getTimerCount()).toBe(0)
    const control = new AbortController()
    const streams = [1, 2].map(() => stream(deaf(), new Client(), { heartbeat, signal: control.signal }))
    expect(vi.getTimerCount()).toBe(1)
    control.abort(new GatewayError('client_closed'))
    await Promise.all(streams.map(({ ended }) => ended))
    vi.advanceTimersByTime(1_000)
    expect(vi.getTimerCount()).toBe(0)
    stream(deaf(), new Client(), { heartbeat })
    expect(vi.getTimerCount()).toBe(1)
    heartbeat.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})
