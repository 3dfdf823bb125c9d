/** Sums and plots of the usage over time. */
import { compact, duration, roundMoney } from './format.js'
import { t } from './words.js'

/** @import { LatencyPoint, Point, Series } from './shapes.d.ts' */
/** @import { PlotData } from './parts/plot.js' */

/** @param {readonly Point[]} points @param {(point: Point) => number} value */
export function sum(points, value) {
  return points.reduce((total, point) => total + value(point), 0)
}

/** Adds up several periods to one. @param {readonly Point[]} points @param {number} merged @returns {Point[]} */
export function merge(points, merged) {
  if (merged === 1) return [...points]
  return Array.from({ length: Math.ceil(points.length / merged) }, (_, index) =>
    points.slice(index * merged, (index + 1) * merged).reduce(plus),
  )
}

/** @param {Point} left @param {Point} right @returns {Point} */
function plus(left, right) {
  const counts = Object.entries(left).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, value + right[/** @type {'requests'} */ (name)]]] : [],
  )
  return {
    ...left,
    ...Object.fromEntries(counts),
    at: left.at,
    cost: String(Number(left.cost) + Number(right.cost)),
  }
}

/**
 * @param {{ total: readonly Point[], series: Series['series'], periodMs: number, currency: string | undefined }} usage
 * @returns {Record<'cost' | 'requests' | 'tokens' | 'errors', PlotData>}
 */
export function plotsOf({ total, series, periodMs, currency }) {
  const times = total.map(({ at }) => at)
  const bars = { times, periodMs, kind: /** @type {const} */ ('bars'), format: compact, isCount: true }
  const of = (/** @type {(point: Point) => number} */ value) => total.map(value)
  const line = (
    /** @type {string} */ name,
    /** @type {string} */ color,
    /** @type {(point: Point) => number} */ value,
  ) => ({
    name,
    color,
    values: of(value),
  })
  const models = series.map(({ name, points }, at) => ({
    name: name ?? t('others'),
    color: name === null ? '--series-others' : `--series-${at + 1}`,
    values: points.map(({ cost }) => Number(cost)),
  }))
  return {
    cost: {
      ...bars,
      isCount: false,
      format: (value) => roundMoney(String(Number(value.toPrecision(12))), currency),
      lines: models.filter(({ values }) => values.some((value) => value > 0)),
    },
    requests: { ...bars, lines: [line(t('requests'), '--series-1', ({ requests }) => requests)] },
    tokens: {
      ...bars,
      lines: [
        line(t('unit_promptTokens'), '--series-1', ({ promptTokens }) => promptTokens),
        line(t('unit_completionTokens'), '--series-2', ({ completionTokens }) => completionTokens),
      ],
    },
    errors: { ...bars, lines: [line(t('incomplete'), '--series-error', ({ incomplete }) => incomplete)] },
  }
}

/** @param {readonly LatencyPoint[]} points @param {number} periodMs @returns {PlotData} */
export function latencyPlot(points, periodMs) {
  const line = (
    /** @type {string} */ name,
    /** @type {string} */ color,
    /** @type {'medianMs' | 'p95Ms' | 'medianFirstByteMs'} */ field,
  ) => ({ name, color, values: points.map((point) => point[field] ?? null) })
  return {
    times: points.map(({ at }) => at),
    periodMs,
    kind: 'lines',
    format: (value) => (value === 0 ? '0' : duration(value)),
    lines: [
      line(t('p95'), '--series-2', 'p95Ms'),
      line(t('median'), '--series-1', 'medianMs'),
      line(t('firstByte'), '--series-3', 'medianFirstByteMs'),
    ],
  }
}

/** The median over the periods with requests. @param {readonly LatencyPoint[]} points @param {'medianMs' | 'medianFirstByteMs'} field */
export function typical(points, field) {
  const values = points.flatMap((point) => point[field] ?? []).sort((left, right) => left - right)
  return values[values.length >> 1]
}
