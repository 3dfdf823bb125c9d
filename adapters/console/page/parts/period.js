import { h } from '../preact.js'
import { useMemo } from 'preact/hooks'
import { filter, usePlace } from '../location.js'
import { t } from '../words.js'

const hour = 3_600_000
const day = 24 * hour

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

/** @typedef {keyof typeof ranges} Range */

/** The time zone in which the reader's days begin. */
export const timeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** The range in the address, up to the end of the current hour or day. @param {Range} [initial] */
export function usePeriod(initial = '7d') {
  const { query } = usePlace()
  const range = Object.hasOwn(ranges, query['range'] ?? '') ? /** @type {Range} */ (query['range']) : initial
  const { ms, period, merged, parts } = ranges[range]
  const isDaily = period === 'day'
  const periodMs = isDaily ? day : merged * hour
  // Read anew at each rendering, because a page may be open for days.
  const to = isDaily
    ? startOfDay(Date.now() + day)
    : startOfDay(Date.now()) + periodMs * Math.ceil(sinceMidnight() / periodMs)
  const from = isDaily ? startOfDay(to - ms + hour) : to - ms
  return useMemo(() => ({ range, from, to, period, merged, parts, periodMs }), [range, to])
}

/** Local midnight. @param {number} at */
function startOfDay(at) {
  return new Date(at).setHours(0, 0, 0, 0)
}

/** At least 1, so that a range that ends now has a length. */
function sinceMidnight() {
  return Math.max(Date.now() - startOfDay(Date.now()), 1)
}

/** @param {{ range: Range }} properties */
export function PeriodPicker({ range }) {
  const names = /** @type {Range[]} */ (Object.keys(ranges))
  return h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': t('period') },
    ...names.map((name) =>
      h(
        'button',
        { type: 'button', 'aria-pressed': name === range, onClick: () => filter({ range: name }) },
        t(`range_${name}`),
      ),
    ),
  )
}
