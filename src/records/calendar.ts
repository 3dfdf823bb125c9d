/** Days, weeks and months in the time zones of the IANA database. All times are milliseconds since the epoch. */

/** The day of a time in UTC, as `YYYY-MM-DD`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** A period of the calendar. */
export type CalendarUnit = 'day' | 'week' | 'month'

/** The calendar in which periods begin. */
export interface Calendar {
  /** Name of an IANA time zone, such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string
  /** The first day of a week. Default `monday`. */
  readonly weekStart?: 'monday' | 'sunday'
}

const dayMs = 86_400_000
/** No time zone differs more from UTC, plus an hour for a change of the clocks. */
const mostOffsetMs = 27 * 3_600_000

/** A date as the number of days since 1970-01-01. */
type DayNumber = number

/** Whether a text is a time zone, also one that this Node does not know under its canonical name. */
export function isTimeZone(name: string): boolean {
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

/**
 * The start of the period that contains `at`: the first moment whose date in the time zone belongs to it. A day whose
 * midnight is skipped by a change of the clocks begins after the change; one that has two midnights begins with the first.
 */
export function periodStart(unit: CalendarUnit, at: number, calendar: Calendar = {}): number {
  const { timeZone = 'UTC' } = calendar
  return startOfDay(firstDay(unit, dateAt(at, timeZone), calendar), timeZone)
}

/** The starts of the period before the one that contains `at`, of that one, and of the two after it. Ascending. */
export function periodsAround(unit: CalendarUnit, at: number, calendar: Calendar = {}): readonly number[] {
  const { timeZone = 'UTC' } = calendar
  const current = firstDay(unit, dateAt(at, timeZone), calendar)
  const next = dayAfter(unit, current)
  const days = [firstDay(unit, current - 1, calendar), current, next, dayAfter(unit, next)]
  // Samoa once skipped a whole day.
  return [...new Set(days.map((day) => startOfDay(day, timeZone)))]
}

/** The first day of the period that contains a day. */
function firstDay(unit: CalendarUnit, day: DayNumber, { weekStart = 'monday' }: Calendar): DayNumber {
  switch (unit) {
    case 'day':
      return day
    case 'week': {
      // The first day of 1970 was a Thursday.
      const sinceSunday = (((day + 4) % 7) + 7) % 7
      return day - (weekStart === 'sunday' ? sinceSunday : (sinceSunday + 6) % 7)
    }
    case 'month': {
      const date = new Date(day * dayMs)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / dayMs
    }
  }
}

/** The first day of the period after the one that begins on a day. */
function dayAfter(unit: CalendarUnit, first: DayNumber): DayNumber {
  if (unit !== 'month') return first + (unit === 'day' ? 1 : 7)
  const date = new Date(first * dayMs)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / dayMs
}

/** The first moment, to the second, at which the date in the time zone is `day` or later. */
function startOfDay(day: DayNumber, timeZone: string): number {
  let [before, from] = [day * dayMs - mostOffsetMs, day * dayMs + mostOffsetMs].map((time) => time / 1000) as Pair
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2)
    if (dateAt(middle * 1000, timeZone) >= day) from = middle
    else before = middle
  }
  return from * 1000
}

type Pair = [number, number]

function dateAt(at: number, timeZone: string): DayNumber {
  if (timeZone === 'UTC') return Math.floor(at / dayMs)
  const [month, day, year] = formatterOf(timeZone).format(at).split('/').map(Number) as [number, number, number]
  return Date.UTC(year, month - 1, day) / dayMs
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Throws a `RangeError` for an unknown time zone. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone)
  if (formatter === undefined) {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', calendar: 'gregory', numberingSystem: 'latn' }
    formatter = new Intl.DateTimeFormat('en-US', { timeZone, ...fields } as Intl.DateTimeFormatOptions)
    // Names come from options and from the host, so there are few.
    if (formatters.size < 1_000) formatters.set(timeZone, formatter)
  }
  return formatter
}

/** A time from which on the clocks of a time zone have an offset from UTC. */
export interface Offset {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Minutes ahead of UTC. */
  readonly offsetMinutes: number
}

/** Shorter than the time between two changes of the clocks in any time zone. */
const stepMs = 7 * dayMs

/** The offset at `from`, and every change of it before `to`, in order. Changes are found to the second. */
export function offsetsIn(timeZone: string, from: number, to: number): Offset[] {
  const offsets: Offset[] = [{ at: from, offsetMinutes: offsetAt(from, timeZone) }]
  for (let before = from; before < to; before += stepMs) {
    const end = Math.min(before + stepMs, to)
    const known = offsets.at(-1)?.offsetMinutes
    if (offsetAt(end, timeZone) === known) continue
    let [low, high] = [Math.floor(before / 1000), Math.floor(end / 1000)]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offsetAt(middle * 1000, timeZone) === known) low = middle
      else high = middle
    }
    if (high * 1000 < to) offsets.push({ at: high * 1000, offsetMinutes: offsetAt(high * 1000, timeZone) })
  }
  return offsets
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function offsetAt(at: number, timeZone: string): number {
  let clock = clocks.get(timeZone)
  if (clock === undefined) {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' }
    const how = { ...fields, hourCycle: 'h23', calendar: 'gregory', numberingSystem: 'latn' }
    clock = new Intl.DateTimeFormat('en-US', { timeZone, ...how } as Intl.DateTimeFormatOptions)
    if (clocks.size < 1_000) clocks.set(timeZone, clock)
  }
  const [month, day, year, hour, minute] = clock.format(at).split(/\D+/).map(Number) as Quintet
  return (Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / 60_000) * 60_000) / 60_000
}

type Quintet = [number, number, number, number, number]
