import { h } from '../preact.js'
import { useMemo } from 'preact/hooks'
import { get } from '../api.js'
import { compact, duration, percent, roundMoney, whole } from '../format.js'
import { useEvery, useLoad } from '../load.js'
import { usePlace } from '../location.js'
import { RefreshButton } from '../parts/button.js'
import { ChartCard } from '../parts/chart.js'
import { Page } from '../parts/details.js'
import { GroupFilter } from '../parts/filters.js'
import { Empty, ErrorNotice, Loading } from '../parts/notice.js'
import { before, PeriodPicker, timeZone, usePeriod } from '../parts/period.js'
import { ShareCard } from '../parts/share.js'
import { Warnings } from '../parts/warnings.js'
import { latencyPlot, merge, plotsOf, sum, typical } from '../series.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** @import { Period } from '../parts/period.js' */
/** @import { LatencyPoint, Point, Series } from '../shapes.d.ts' */

const splits = /** @type {const} */ (['model', 'account', 'key', 'user'])

/** @typedef {Series & { period: Period, previous: readonly Point[] }} Loaded */

export function OverviewPage() {
  const { isBilled, role } = useSession()
  const period = usePeriod()
  const { query } = usePlace()
  const offered = splits.filter((each) => role === 'admin' || each !== 'account')
  const by = offered.find((each) => each === query['by']) ?? 'model'
  const { data, error, loading, reload } = useLoad((signal) => load(period, by, isBilled, signal), [period, by])
  useEvery(60_000, reload)
  return h(
    Page,
    {
      title: t('page_overview'),
      subtitle: t('timesIn', { zone: timeZone() }),
      actions: [h(PeriodPicker, { range: period.range }), h(RefreshButton, { onClick: reload })],
      busy: loading,
    },
    isBilled && h('div', { class: 'filters' }, h(GroupFilter, { by, offered })),
    role === 'admin' && h(Warnings, null),
    error !== undefined && h(ErrorNotice, { error, retry: reload }),
    data === undefined && error === undefined && h(Loading, null),
    data !== undefined && h(Figures, data),
  )
}

/** @param {Period} period @param {typeof splits[number]} by @param {boolean} isBilled @param {AbortSignal} signal @returns {Promise<Loaded>} */
async function load(period, by, isBilled, signal) {
  const { merged } = period
  const measure = isBilled ? 'cost' : 'requests'
  const ask = (/** @type {Period} */ { from, to, period: each }, /** @type {object} */ more) =>
    get('usage/series', { from, to, period: each, timeZone: timeZone(), ...more }, signal)
  const [{ total, series }, previous] = /** @type {[Series, Series]} */ (
    await Promise.all([ask(period, { by, top: 5, measure }), ask(before(period), {})])
  )
  return {
    total: merge(total, merged),
    series: series.map(({ name, points }) => ({ name, points: merge(points, merged) })),
    period,
    previous: previous.total,
  }
}

/** @param {Loaded} loaded */
function Figures({ total, series, period, previous }) {
  const { from, to, periodMs } = period
  const { currency, role, isBilled } = useSession()
  const plots = useMemo(() => plotsOf({ total, series, periodMs, currency }), [total, currency])
  const requests = sum(total, (point) => point.requests)
  const incomplete = sum(total, (point) => point.incomplete)
  const cost = roundMoney(String(sum(total, (point) => Number(point.cost))), currency)
  const [prompt, completion] = [
    sum(total, (point) => point.promptTokens),
    sum(total, (point) => point.completionTokens),
  ]
  const rate = requests === 0 ? 0 : incomplete / requests
  const shares =
    role === 'admin' ? /** @type {const} */ (['model', 'account']) : /** @type {const} */ (['model', 'key'])
  const change = (/** @type {(point: Point) => number} */ value) => changed(sum(total, value), sum(previous, value))
  if (requests === 0) return h(Empty, { title: t('noUsage') }, t('noUsageHint'))
  return h(
    'div',
    { class: 'grid' },
    isBilled &&
      h(ChartCard, {
        title: t('cost'),
        value: cost,
        note: change((point) => Number(point.cost)),
        summary: t('costSummary', { cost }),
        data: plots.cost,
        class: 'wide',
      }),
    h(ChartCard, {
      title: t('requests'),
      value: whole(requests),
      note: change((point) => point.requests),
      summary: t('requestsSummary', { requests: whole(requests) }),
      data: plots.requests,
      ...(!isBilled && { class: 'wide' }),
    }),
    h(ChartCard, {
      title: t('tokens'),
      value: compact(prompt + completion),
      note: t('tokensNote', { prompt: compact(prompt), completion: compact(completion) }),
      summary: t('tokensSummary', { prompt: whole(prompt), completion: whole(completion) }),
      data: plots.tokens,
    }),
    h(ChartCard, {
      title: t('errors'),
      value: percent(rate),
      note: t('errorsNote', { count: whole(incomplete) }),
      summary: t('errorsSummary', { count: whole(incomplete), rate: percent(rate) }),
      data: plots.errors,
    }),
    h(Latency, { period }),
    ...shares.map((by) => h(ShareCard, { by, from, to, key: by })),
  )
}

/** Against the same length before. @param {number} now @param {number} then */
function changed(now, then) {
  if (then === 0) return undefined
  const part = now / then - 1
  return t('sinceBefore', { change: `${part < 0 ? '−' : '+'}${percent(Math.abs(part))}` })
}

/** Loaded on its own: it is read from single requests. @param {{ period: Period }} properties */
function Latency({ period: { from, to, parts } }) {
  const { data, error, reload } = useLoad(
    (signal) => get('usage/latency', { from, to, periods: parts }, signal),
    [from, to],
  )
  const points = /** @type {readonly LatencyPoint[]} */ (data?.items ?? [])
  const plot = useMemo(() => latencyPlot(points, (to - from) / parts), [data])
  const [median, firstByte] = [typical(points, 'medianMs'), typical(points, 'medianFirstByteMs')]
  if (error !== undefined) return h(ErrorNotice, { error, retry: reload })
  if (data === undefined) return h('section', { class: 'card' }, h(Loading, null))
  const value = median === undefined ? '–' : duration(median)
  return h(ChartCard, {
    title: t('latency'),
    value,
    note: firstByte === undefined ? undefined : t('latencyNote', { firstByte: duration(firstByte) }),
    summary: t('latencySummary', { median: value }),
    data: plot,
  })
}
