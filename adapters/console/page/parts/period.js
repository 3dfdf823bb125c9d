import { h } from '../preact.js'
import { useMemo } from 'preact/hooks'
import { filter, usePlace } from '../location.js'
import { t } from '../words.js'
import { segments } from './button.js'

const hour = 3_600_000
const day = 24 * hour
/** The API sums at most 400 periods. */
const mostDays = 366

/**
 * Ranges that can be chosen: their length, the periods in which the API sums, how many of them make a bar of a plot, and into
 * how many parts latencies are divided.
 */
const ranges = /** @type {const} */ ({
  '24h': { ms: day, period: 'hour', merged: 1, parts: 12 },
  '7d': { ms: 7 * day, period: 'hour', merged: 6, parts: 14 },
  '30d': { ms: 30 * day, period: 'day', merged: 1, parts: 15 },
  '90d': { ms: 90 * day, period: 'day', merged: 1, parts: 18 },
})

/** `own`: from and to are in the address. @typedef {keyof typeof ranges | 'month' | 'own'} Range */

/** @typedef {{ range: Range, from: number, to: number, period: 'hour' | 'day', merged: number, parts: number, periodMs: number }} Period */

/** The time zone in which the reader's days begin. */
export const timeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** The range in the address, up to the end of the current hour or day. @param {keyof typeof ranges} [initial] @returns {Period} */
export function usePeriod(initial = '7d') {
  const { query } = usePlace()
  const chosen = /** @type {Range} */ (query['range'])
  // Read anew at each rendering, because a page may be open for days.
  const today = startOfDay(Date.now() + day)
  const own = ownRange(query, today)
  const range = chosen === 'month' || own || Object.hasOwn(ranges, chosen ?? '') ? chosen : initial
  const month = new Date(new Date().setDate(1)).setHours(0, 0, 0, 0)
  const [from, to] = own ?? (range === 'month' ? [month, today] : lastOf(/** @type {keyof typeof ranges} */ (range)))
  return useMemo(() => ({ range, from, to, ...partsOf(range, to - from) }), [range, from, to])
}

/** @param {Readonly<Record<string, string>>} query @param {number} today @returns {[from: number, to: number] | undefined} */
function ownRange({ range, from, to }, today) {
  if (range !== 'own') return undefined
  const [begins, ends] = [Number(from) || today - day, Number(to) || today]
  return begins < ends ? [begins, Math.min(ends, begins + mostDays * day)] : undefined
}

/** @param {keyof typeof ranges} range @returns {[from: number, to: number]} */
function lastOf(range) {
  const { ms, period, merged } = ranges[range]
  if (period === 'day') {
    const to = startOfDay(Date.now() + day)
    return [startOfDay(to - ms + hour), to]
  }
  const to = startOfDay(Date.now()) + merged * hour * Math.ceil(sinceMidnight() / (merged * hour))
  return [to - ms, to]
}

/** How a range is divided. @param {Range} range @param {number} ms */
function partsOf(range, ms) {
  const { period, merged, parts } =
    range === 'month' || range === 'own' ? ranges[ms > 8 * day ? '30d' : ms > day ? '7d' : '24h'] : ranges[range]
  return { period, merged, parts, periodMs: period === 'day' ? day : merged * hour }
}

/** The same length before. @param {Period} period @returns {Period} */
export function before(period) {
  return { ...period, from: period.from - (period.to - period.from), to: period.from }
}

/** Local midnight. @param {number} at */
function startOfDay(at) {
  return new Date(at).setHours(0, 0, 0, 0)
}

/** At least 1, so that a range that ends now has a length. */
function sinceMidnight() {
  return Math.max(Date.now() - startOfDay(Date.now()), 1)
}

/** @param {Range} range */
function choose(range) {
  filter(range === 'own' ? { range } : { range, from: undefined, to: undefined })
}

/** @param {{ range: Range }} properties */
export function PeriodPicker({ range }) {
  return [
    segments({
      label: t('period'),
      choices: /** @type {Range[]} */ ([...Object.keys(ranges), 'month', 'own']),
      chosen: range,
      onChoose: choose,
      nameOf: (name) => t(`range_${name}`),
    }),
    range === 'own' && h(OwnRange, null),
  ]
}

/** The first and the last day. */
function OwnRange() {
  const { from, to } = usePeriod()
  return h(
    'span',
    { class: 'own-range' },
    dayField('from', from, (midnight) => midnight),
    '–',
    dayField('to', to - 1, (midnight) => startOfDay(midnight + day + hour)),
  )
}

/** @param {'from' | 'to'} name @param {number} at @param {(midnight: number) => number} bound */
function dayField(name, at, bound) {
  return h('input', {
    type: 'date',
    'aria-label': t(`range_${name}`),
    value: new Date(at - new Date(at).getTimezoneOffset() * 60_000).toJSON().slice(0, 10),
    onChange: (event) => {
      const midnight = new Date(`${event.currentTarget.value}T00:00`).getTime()
      if (!Number.isNaN(midnight)) filter({ [name]: String(bound(midnight)) })
    },
  })
}
