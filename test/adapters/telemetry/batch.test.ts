/** Spans and values of metrics pass to the SDK together. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { context, diag, isSpanContextValid, trace } from '@opentelemetry/api'
import { SimpleSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Batch } from '../../../adapters/telemetry/otel/batch.ts'
import { LateSpan } from '../../../adapters/telemetry/otel/late-span.ts'
import { otel } from '../../../adapters/telemetry/otel/otel.ts'
import { createGateway } from '../../../src/index.ts'
import { defineProvider, demo, finish } from '../../../src/providers/index.ts'
import { askChat, hosted } from '../../hosted.ts'
import { Sdk, withContexts } from './sdk.ts'
import { sourceFlags } from '../../source-flags.ts'

beforeAll(withContexts)

/** Whatever is added passes its name on. */
function recorded(batch: Batch) {
  const passed: string[] = []
  return { passed, add: (name: string) => batch.add({ pass: () => void passed.push(name) }) }
}

describe('a batch', () => {
  test('passes everything in the order in which it was added, without being asked', async () => {
    const { passed, add } = recorded(new Batch())
    for (const name of ['a', 'b', 'c']) add(name)
    expect(passed).toEqual([])
    await vi.waitFor(() => expect(passed).toEqual(['a', 'b', 'c']))
    add('d')
    await vi.waitFor(() => expect(passed).toEqual(['a', 'b', 'c', 'd']))
  })

  test('passes what was added so far when it is flushed, with what is added meanwhile, and nothing twice', async () => {
    const batch = new Batch()
    const { passed, add } = recorded(batch)
    batch.add({ pass: () => add('value') })
    add('span')
    batch.flush()
    expect(passed).toEqual(['span', 'value'])
    await new Promise((resolve) => setTimeout(resolve, 6))
    expect(passed).toEqual(['span', 'value'])
  })

  test('passes the rest after an exception, which goes to the log of OpenTelemetry', () => {
    const error = vi.fn()
    diag.setLogger({ error, warn() {}, info() {}, debug() {}, verbose() {} })
    onTestFinished(() => diag.disable())
    const batch = new Batch()
    const { passed, add } = recorded(batch)
    const thrown = new Error('a processor failed')
    batch.add({
      pass: () => {
        throw thrown
      },
    })
    add('next')
    batch.flush()
    expect(passed).toEqual(['next'])
    expect(error).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('modelhatch'), thrown)
  })

  test('does not pass things in the context of the request that was added first', async () => {
    const { tracerProvider } = new Sdk()
    const span = tracerProvider.getTracer('host').startSpan('request')
    const active: unknown[] = []
    context.with(trace.setSpan(context.active(), span), () => {
      new Batch().add({ pass: () => void active.push(trace.getActiveSpan()) })
    })
    await vi.waitFor(() => expect(active).toEqual([undefined]))
  })

  test('passes things at once in a process where nothing else happens', async () => {
    const script = fileURLToPath(new URL('idle-process.ts', import.meta.url))
    const child = spawn(process.execPath, [...sourceFlags, script], { stdio: 'ignore' })
    onTestFinished(() => void child.kill())
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(0)
  })

  test('does not keep a process alive', () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout')
    const batch = new Batch()
    const { add } = recorded(batch)
    const before = timers()
    add('a')
    batch.flush()
    add('b')
    expect(timers()).toEqual(before)
  })
})

describe('a late span', () => {
  test('is started once, by whatever needs it first', () => {
    const { tracerProvider } = new Sdk()
    const start = vi.fn(() => tracerProvider.getTracer('host').startSpan('late'))
    const span = new LateSpan(start)
    expect(start).not.toHaveBeenCalled()
    const { spanId } = span.spanContext()
    span
      .setAttribute('a', 1)
      .setAttributes({ b: 2 })
      .addEvent('e')
      .addLink({ context: span.spanContext() })
      .addLinks([])
    span.updateName('named').setStatus({ code: 2 }).recordException('x')
    expect(span.isRecording()).toBe(true)
    span.end()
    expect(span.isRecording()).toBe(false)
    expect(start).toHaveBeenCalledOnce()
    expect(span.started).toMatchObject({ name: 'named', attributes: { a: 1, b: 2 }, status: { code: 2 } })
    expect(span.started.spanContext().spanId).toBe(spanId)
  })

  test('that cannot be started belongs to no trace, and throws nothing', () => {
    const error = vi.fn()
    diag.setLogger({ error, warn() {}, info() {}, debug() {}, verbose() {} })
    onTestFinished(() => diag.disable())
    const thrown = new Error('a sampler failed')
    const span = new LateSpan(() => {
      throw thrown
    })
    expect(span.setAttribute('a', 1).isRecording()).toBe(false)
    expect(isSpanContextValid(span.spanContext())).toBe(false)
    expect(error).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('modelhatch'), thrown)
  })

  test('is the parent of what starts in its context', () => {
    const { tracerProvider } = new Sdk()
    const tracer = tracerProvider.getTracer('host')
    const late = new LateSpan(() => tracer.startSpan('late'))
    const child = tracer.startSpan('child', {}, trace.setSpan(context.active(), late))
    expect((child as unknown as ReadableSpan).parentSpanContext?.spanId).toBe(late.spanContext().spanId)
  })
})

describe('spans of requests', () => {
  test('have passed to the SDK when the gateway is closed', async () => {
    const sdk = new Sdk()
    const { tracerProvider, meterProvider } = sdk
    const telemetry = [otel({ tracerProvider, meterProvider })]
    const gateway = createGateway({ keys: { 'sk-test': {} }, models: { m: demo() }, telemetry })
    const url = await hosted(gateway)
    const asked = Array.from({ length: 20 }, async () => (await askChat(url)).text())
    await Promise.all(asked)
    await gateway.close()
    expect(sdk.spans).toHaveLength(40)
  })

  test('last as long as the requests do, although they start late', async () => {
    const ended: ReadableSpan[] = []
    const exporter = {
      export: (spans: ReadableSpan[], done: (result: { code: number }) => void) => {
        ended.push(...spans)
        done({ code: 0 })
      },
      shutdown: async () => undefined,
    }
    const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    const pauseMs = 30
    const provider = defineProvider({
      name: 'slow',
      origin: 'https://vendor.example',
      async *generate() {
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        yield finish('stop')
      },
    })
    const telemetry = [otel({ tracerProvider, metrics: false })]
    const gateway = createGateway({ keys: { 'sk-test': {} }, models: { m: provider }, telemetry })
    const before = Date.now()
    await (await askChat(await hosted(gateway))).text()
    const after = Date.now()
    await gateway.close()
    const msOf = ([seconds, nanoseconds]: readonly [number, number]) => seconds * 1_000 + nanoseconds / 1_000_000
    const [attempt, call] = ended as [ReadableSpan, ReadableSpan]
    expect(msOf(call.startTime)).toBeGreaterThanOrEqual(before)
    expect(msOf(attempt.startTime)).toBeGreaterThanOrEqual(msOf(call.startTime))
    expect(msOf(attempt.endTime)).toBeLessThanOrEqual(msOf(call.endTime))
    expect(msOf(call.endTime)).toBeLessThanOrEqual(after + 1)
    expect(msOf(attempt.duration)).toBeGreaterThanOrEqual(pauseMs - 1)
  })

  test('do not take a request down if a span processor throws', async () => {
    diag.disable()
    const failing = {
      onStart(): void {
        throw new Error('start')
      },
      onEnd(): void {
        throw new Error('end')
      },
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    }
    const tracerProvider = new TracerProvider({ spanProcessors: [failing] })
    const telemetry = [otel({ tracerProvider, propagate: true })]
    const gateway = createGateway({ keys: { 'sk-test': {} }, models: { m: demo() }, telemetry })
    expect((await askChat(await hosted(gateway))).status).toBe(200)
    await gateway.close()
  })
})
