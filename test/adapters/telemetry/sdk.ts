/** OpenTelemetry's SDK with exporters in memory, for one test. */
import { context, trace, type Attributes, type SpanKind } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type HistogramMetricData,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace'
import { expect, onTestFinished } from 'vitest'

/** A span as the tests look at it. */
export interface Seen {
  readonly name: string
  readonly kind: SpanKind
  readonly id: string
  readonly trace: string
  readonly parent: string | undefined
  readonly attributes: Attributes
  readonly status: number
  readonly links: readonly string[]
}

/** The values of a metric with equal attributes. */
export interface Point {
  readonly attributes: Attributes
  /** Of a histogram, the number of values. */
  readonly count: number
  /** Of a histogram, their sum. */
  readonly value: number
  /** Of a histogram, the upper bounds of its buckets. */
  readonly bounds: readonly number[]
}

export class Sdk {
  readonly tracerProvider: TracerProvider
  readonly meterProvider: MeterProvider
  readonly #spans = new InMemorySpanExporter()
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  readonly #reader = new PeriodicExportingMetricReader({ exporter: this.#metrics, exportIntervalMillis: 3_600_000 })

  constructor() {
    this.tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: this.#spans })] })
    this.meterProvider = new MeterProvider({ readers: [this.#reader] })
    onTestFinished(async () => {
      await this.tracerProvider.shutdown()
      await this.meterProvider.shutdown()
    })
  }

  /** The spans that have ended, in that order. */
  get spans(): Seen[] {
    return this.#spans.getFinishedSpans().map(seen)
  }

  /** Those spans, once there are `count`. */
  async ended(count: number): Promise<Seen[]> {
    await expect.poll(() => this.spans.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)
    return this.spans
  }

  /** The points of each metric, by its name. */
  async points(): Promise<Map<string, Point[]>> {
    this.#metrics.reset()
    await this.#reader.forceFlush()
    const metrics = this.#metrics
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics))
    return new Map(
      metrics.map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints.map(({ attributes, value }) => {
          if (typeof value === 'number') return { attributes, count: 1, value, bounds: [] }
          const { count, sum = 0, buckets } = value as HistogramMetricData['dataPoints'][number]['value']
          return { attributes, count, value: sum, bounds: buckets.boundaries }
        }),
      ]),
    )
  }
}

/** Makes contexts follow asynchronous calls, as a host's SDK does. Call it once per file. */
export function withContexts(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
}

/** Runs `work` within a span of the host, whose id it returns. */
export async function withinHost(sdk: Sdk, work: () => Promise<unknown>): Promise<{ id: string; trace: string }> {
  const span = sdk.tracerProvider.getTracer('host').startSpan('host')
  await context.with(trace.setSpan(context.active(), span), work)
  span.end()
  return { id: span.spanContext().spanId, trace: span.spanContext().traceId }
}

function seen(span: ReadableSpan): Seen {
  const { spanId: id, traceId } = span.spanContext()
  return {
    name: span.name,
    kind: span.kind,
    id,
    trace: traceId,
    parent: span.parentSpanContext?.spanId,
    attributes: span.attributes,
    status: span.status.code,
    links: span.links.map((link) => `${link.context.traceId}-${link.context.spanId}`),
  }
}
