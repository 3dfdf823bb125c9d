/** `modelhatch/otel`: traces and metrics by OpenTelemetry's conventions for generative AI. */
import type { MeterProvider, TracerProvider } from '@opentelemetry/api'
import { trace } from '@opentelemetry/api'
import type { ObservedAttempt, ObservedCall, Telemetry } from '../../../src/index.ts'
import { checkKnown, elsewhere, flag, texts, type Known } from '../../../src/records/known-options.ts'
import { AttemptFigures, CallFigures } from '../call-figures.ts'
import { Figures } from '../figures.ts'
import { Batch } from './batch.ts'
import { otelSink } from './instruments.ts'
import { TracedAttempt } from './attempt-span.ts'
import { TracedCall } from './call-span.ts'

/** What a request is known by, and what it says. In no attribute unless it is named in `OtelOptions.record`. */
export type Recordable = 'account' | 'key' | 'user' | 'session' | 'content'

/** Options of `otel`. */
export interface OtelOptions {
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider
  /** Default: the global one as of `createGateway`, so register the SDK before. */
  readonly meterProvider?: MeterProvider
  /** Whether there are spans. Default true. */
  readonly traces?: boolean
  /** Whether there are metrics. Default true. */
  readonly metrics?: boolean
  /** Whether requests to vendors carry the `traceparent` of their attempt. Default false. */
  readonly propagate?: boolean
  /**
   * Whether a request continues the trace that its own header `traceparent` names, if the host has no active span. Then
   * clients choose the ids of traces, and which of them are sampled. Default false.
   */
  readonly acceptTraceparent?: boolean
  /**
   * Whether the span of an attempt is active while its provider is called, so that what the provider traces is below it.
   * True for all, also for the vendors of this library, as the instrumentation of undici needs it. Default: only for
   * providers of your own, because an active span takes time in everything that is done below it.
   */
  readonly active?: boolean
  /**
   * What becomes attributes of spans: the account, the public id of the key, the person and the session behind the request, and
   * its `content`: messages, instructions and tools. Default: none.
   */
  readonly record?: readonly Recordable[]
  /** Names of models that become attributes of metrics although clients choose them, as with `'openai/*'`. Default: none. */
  readonly models?: readonly string[]
}

const known: Known<OtelOptions> = {
  tracerProvider: elsewhere,
  meterProvider: elsewhere,
  traces: flag,
  metrics: flag,
  propagate: flag,
  acceptTraceparent: flag,
  active: flag,
  record: texts,
  models: texts,
}

/**
 * Creates the telemetry of a gateway for OpenTelemetry: a span for each request, a span for each attempt at a vendor, and
 * metrics of both. The host's active span is the parent. Needs `@opentelemetry/api`, and an SDK that the host has registered.
 * Throws a `TypeError` for an unknown option.
 *
 * Spans and values pass to the SDK together, up to 5 ms after they have ended: close the gateway before the SDK is shut down, or
 * call `flush` before its `forceFlush`.
 *
 * @example
 * createGateway({ models, telemetry: [otel()] })
 */
export function otel(options: OtelOptions = {}): Telemetry & Required<Pick<Telemetry, 'flush'>> {
  checkKnown('otel', options, known)
  const { metrics = true, traces = true } = options
  const batch = new Batch()
  const sink = metrics ? otelSink(options.meterProvider, batch) : undefined
  const figures = new Figures(sink ?? { record: () => undefined }, options.models)
  const { tracerProvider = trace, propagate = false, acceptTraceparent = false, active, record = [] } = options
  const tracer = tracerProvider.getTracer('modelhatch')
  const settings = {
    figures,
    tracer,
    batch,
    propagate,
    acceptTraceparent,
    active,
    record: new Set<string>(record),
    servers: new Map(),
  }
  return {
    attach(state) {
      figures.attach(state)
      sink?.start(() => figures.readings())
    },
    call: (call: ObservedCall) => (traces ? new TracedCall(settings, call) : new CallFigures(figures, call)),
    attempt: (attempt: ObservedAttempt) =>
      traces ? new TracedAttempt(settings, attempt, Date.now()) : new AttemptFigures(figures, attempt),
    receipt: (receipt, costs) => figures.receipt(receipt, costs),
    breaker: (change) => figures.breaker(change),
    store: (failure) => figures.store(failure),
    dropped: (queue) => figures.dropped(queue),
    task: (change) => figures.task(change),
    flush: () => batch.flush(),
  }
}
