/** Metrics in the form in which the registry of `prom-client` collects them. */
import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client'
import type { Labels } from '../labels.ts'
import type { MetricName } from '../names.ts'

interface Cell {
  /** The values in each bucket of a histogram, not cumulated; the last has no upper bound. */
  readonly counts: number[]
  count: number
  sum: number
}

/**
 * A metric of `prom-client`. Its own classes look up the labels of each value by a text that they make of them, which takes
 * several times as long.
 */
export class Series {
  readonly name: string
  readonly help: string
  readonly type: MetricName['kind']
  readonly aggregator: 'sum' | 'max'
  readonly #buckets: readonly number[]
  readonly #read: ((series: Series) => void) | undefined
  #cells = new Map<Labels, Cell>()

  /** `read` sets the values of a gauge. */
  constructor(metric: MetricName, read?: (series: Series) => void) {
    this.name = prometheusName(metric)
    this.help = metric.description
    this.type = metric.kind
    this.aggregator = metric.unit === '{state}' ? 'max' : 'sum'
    this.#buckets = metric.buckets ?? []
    this.#read = read
  }

  record(value: number, labels: Labels): void {
    let cell = this.#cells.get(labels)
    if (cell === undefined) {
      cell = { counts: this.#buckets.map(() => 0).concat(0), count: 0, sum: 0 }
      this.#cells.set(labels, cell)
    }
    cell.count++
    cell.sum += value
    const at = bucketOf(value, this.#buckets)
    cell.counts[at] = (cell.counts[at] ?? 0) + 1
  }

  /** Forgets all values. */
  reset(): void {
    this.#cells = new Map()
  }

  /** Called by the registry. */
  async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    if (this.#read !== undefined) {
      this.reset()
      this.#read(this)
    }
    const values = [...this.#cells].flatMap(([labels, cell]) => this.#valuesOf(named(labels), cell))
    const { name, help, type, aggregator } = this
    return { name, help, type, aggregator, values } as unknown as MetricObjectWithValues<MetricValueWithName<string>>
  }

  #valuesOf(labels: Labels, { counts, count, sum }: Cell): MetricValueWithName<string>[] {
    if (this.type !== 'histogram') return [{ labels, value: sum, metricName: this.name }]
    let below = 0
    const buckets = [...this.#buckets, '+Inf'].map((le, at) => {
      below += counts[at] ?? 0
      return { labels: { le, ...labels }, value: below, metricName: `${this.name}_bucket` }
    })
    return [
      ...buckets,
      { labels, value: sum, metricName: `${this.name}_sum` },
      { labels, value: count, metricName: `${this.name}_count` },
    ]
  }
}

/** The name in Prometheus, as OpenTelemetry's rules make it: with the unit, and `_total` for a counter. */
export function prometheusName({ name, unit, kind }: MetricName): string {
  const seconds = unit === 's' ? '_seconds' : ''
  return `${name.replaceAll('.', '_')}${seconds}${kind === 'counter' ? '_total' : ''}`
}

/** The names of labels have underscores instead of dots. */
function named(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name.replaceAll('.', '_'), value]))
}

function bucketOf(value: number, buckets: readonly number[]): number {
  let at = 0
  while (at < buckets.length && value > (buckets[at] as number)) at++
  return at
}
