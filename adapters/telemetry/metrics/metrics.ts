/** `modelhatch/metrics`: metrics for Prometheus, on `prom-client`. */
import { Registry, type Metric as PrometheusMetric } from 'prom-client'
import {
  GatewayError,
  type Exchange,
  type Mountable,
  type ObservedAttempt,
  type ObservedCall,
  type Reply,
  type Telemetry,
} from '../../../src/index.ts'
import { refuse } from '../../../src/http/answers.ts'
import { checkKnown, elsewhere, texts, type Known } from '../../../src/records/known-options.ts'
import { AttemptFigures, CallFigures } from '../call-figures.ts'
import { Figures } from '../figures.ts'
import { metricNames, type Gauge, type MetricName, type Recorded } from '../names.ts'
import { Series } from './series.ts'

/** Options of `metrics`. */
export interface MetricsOptions {
  /** The registry that the metrics are added to, such as the host's own. Default: a new one. */
  readonly registry?: Registry
  /** Names of models that become labels although clients choose them, as with `'openai/*'`. Default: none. */
  readonly models?: readonly string[]
}

const known: Known<MetricsOptions> = { registry: elsewhere, models: texts }

/** Telemetry that `mount` serves to Prometheus. */
export interface Metrics extends Telemetry, Mountable {
  /** All metrics. */
  readonly registry: Registry
}

/**
 * Creates metrics for Prometheus, without OpenTelemetry. One object can serve several gateways. Every `mount` serves it, without
 * authentication. Throws a `TypeError` for an unknown option, and if the registry has the metrics already.
 *
 * @example
 * const prometheus = metrics()
 * const gateway = createGateway({ models, telemetry: [prometheus] })
 * app.use('/metrics', mount(prometheus))
 */
export function metrics(options: MetricsOptions = {}): Metrics {
  checkKnown('metrics', options, known)
  const { registry = new Registry(), models } = options
  const all = new Map<Gauge | Recorded, Series>()
  const record = (metric: Recorded, value: number, labels: Readonly<Record<string, string | number>>) =>
    all.get(metric)?.record(value, labels)
  const figures = new Figures({ record }, models)
  const read = (gauge: Gauge) => (series: Series) => {
    for (const { gauge: of, value, labels } of figures.readings()) if (of === gauge) series.record(value, labels)
  }
  for (const [metric, name] of Object.entries<MetricName>(metricNames)) {
    const series = new Series(name, name.kind === 'gauge' ? read(metric as Gauge) : undefined)
    all.set(metric as Gauge | Recorded, series)
    registry.registerMetric(series as unknown as PrometheusMetric)
  }
  return {
    registry,
    serves: (target) => /^\/?(?:\?|$)/.test(target),
    handle: (exchange) => answer(registry, exchange),
    attach: (state) => figures.attach(state),
    call: (call: ObservedCall) => new CallFigures(figures, call),
    attempt: (attempt: ObservedAttempt) => new AttemptFigures(figures, attempt),
    receipt: (receipt, costs) => figures.receipt(receipt, costs),
    breaker: (change) => figures.breaker(change),
    store: (failure) => figures.store(failure),
    dropped: (queue) => figures.dropped(queue),
    task: (change) => figures.task(change),
  }
}

async function answer(registry: Registry, { method }: Exchange): Promise<Reply> {
  if (method !== 'GET' && method !== 'HEAD')
    return refuse(new GatewayError('method_not_allowed', { headers: { allow: 'GET, HEAD' } }))
  try {
    const body = await registry.metrics()
    return { status: 200, headers: { 'content-type': registry.contentType, 'cache-control': 'no-store' }, body }
  } catch {
    // A metric of the host has failed to collect.
    return refuse(new GatewayError('server_error'))
  }
}
