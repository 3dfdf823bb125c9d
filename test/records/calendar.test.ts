import { describe, expect, test } from 'vitest'
import {
  isTimeZone,
  periodsAround,
  periodStart,
  type Calendar,
  type CalendarUnit,
  offsetsIn,
} from '../../src/records/calendar.ts'

const hourMs = 3_600_000
const at = (text: string) => Date.parse(text)

function startOf(unit: CalendarUnit, time: string, calendar?: Calendar): string {
  return new Date(periodStart(unit, at(time), calendar)).toISOString()
}

describe('periods of the calendar', () => {
  test('in UTC', () => {
    expect(startOf('day', '2026-11-22T23:59:59.999Z')).toBe('2026-11-22T00:00:00.000Z')
    expect(startOf('month', '2026-11-22T10:00:00Z')).toBe('2026-11-01T00:00:00.000Z')
    expect(startOf('month', '2026-01-01T00:00:00Z')).toBe('2026-01-01T00:00:00.000Z')
    expect(startOf('month', '2025-12-31T23:59:59.999Z')).toBe('2025-12-01T00:00:00.000Z')
  })

  test('a week begins on Monday or on Sunday', () => {
    // A Sunday.
    const sunday = '2026-11-22T12:00:00Z'
    expect(startOf('week', sunday)).toBe('2026-11-16T00:00:00.000Z')
    expect(startOf('week', sunday, { weekStart: 'sunday' })).toBe('2026-11-22T00:00:00.000Z')
    const monday = '2026-11-23T00:00:00Z'
    expect(startOf('week', monday)).toBe('2026-11-23T00:00:00.000Z')
    expect(startOf('week', monday, { weekStart: 'sunday' })).toBe('2026-11-22T00:00:00.000Z')
    expect(startOf('week', '1969-12-31T12:00:00Z')).toBe('1969-12-29T00:00:00.000Z')
  })

  const zones: [string, string, string][] = [
    ['Europe/Berlin', '2026-11-21T23:30:00Z', '2026-11-21T23:00:00.000Z'],
    ['America/New_York', '2026-11-22T04:59:00Z', '2026-11-21T05:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-22T18:20:00Z', '2026-11-22T18:15:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
    ['Pacific/Pago_Pago', '2026-11-22T10:59:59Z', '2026-11-21T11:00:00.000Z'],
    ['Australia/Lord_Howe', '2026-11-22T13:30:00Z', '2026-11-22T13:00:00.000Z'],
  ]

  test.each(zones)('%s: the day that contains %s begins at %s', (timeZone, time, start) => {
    expect(startOf('day', time, { timeZone })).toBe(start)
  })

  const changes: [string, string, string, number][] = [
    ['Berlin, spring', 'Europe/Berlin', '2026-03-29T10:00:00Z', 23],
    ['Berlin, autumn', 'Europe/Berlin', '2026-10-25T10:00:00Z', 25],
    ['Berlin, no change', 'Europe/Berlin', '2026-11-22T10:00:00Z', 24],
    ['New York, spring', 'America/New_York', '2026-03-08T12:00:00Z', 23],
    ['New York, autumn', 'America/New_York', '2026-11-01T12:00:00Z', 25],
    ['Lord Howe, half an hour', 'Australia/Lord_Howe', '2026-04-04T20:00:00Z', 24.5],
    // Midnight is skipped: the day begins at 01:00.
    ['Cairo, midnight is skipped', 'Africa/Cairo', '2026-04-24T10:00:00Z', 23],
    // Midnight occurs twice: the day begins with the first.
    ['Havana, midnight occurs twice', 'America/Havana', '2026-11-01T12:00:00Z', 25],
  ]

  test.each(changes)('%s: the day has the right number of hours', (_, timeZone, time, hours) => {
    const [, start = 0, end = 0] = periodsAround('day', at(time), { timeZone })
    expect(at(time)).toBeGreaterThanOrEqual(start)
    expect(at(time)).toBeLessThan(end)
    expect((end - start) / hourMs).toBe(hours)
  })

  test('a day whose midnight is skipped begins at the change of the clocks', () => {
    expect(startOf('day', '2026-04-24T10:00:00Z', { timeZone: 'Africa/Cairo' })).toBe('2026-04-23T22:00:00.000Z')
  })

  test('a day that does not exist has no period', () => {
    // Samoa went from the 29th to the 31st of December 2011.
    const around = periodsAround('day', at('2011-12-29T12:00:00Z'), { timeZone: 'Pacific/Apia' })
    expect(around.map((each) => new Date(each).toISOString())).toEqual([
      '2011-12-28T10:00:00.000Z',
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
    ])
  })

  test('a month spans a change of the clocks', () => {
    const calendar = { timeZone: 'Europe/Berlin' }
    const around = periodsAround('month', at('2026-03-31T21:59:59Z'), calendar)
    expect(around.map((each) => new Date(each).toISOString())).toEqual([
      '2026-01-31T23:00:00.000Z',
      '2026-02-28T23:00:00.000Z',
      '2026-03-31T22:00:00.000Z',
      '2026-04-30T22:00:00.000Z',
    ])
  })

  test.each(['day', 'week', 'month'] as const)('each %s of two years begins where the one before ends', (unit) => {
    for (const timeZone of ['UTC', 'Europe/Berlin', 'America/Havana', 'Africa/Cairo', 'Asia/Kathmandu']) {
      let time = at('2026-01-01T12:00:00Z')
      while (time < at('2028-01-01T00:00:00Z')) {
        const [before = 0, start = 0, end = 0, after = 0] = periodsAround(unit, time, { timeZone })
        expect([before < start, start <= time, time < end, end < after]).toEqual([true, true, true, true])
        const [start2, end2] = periodsAround(unit, end, { timeZone })
        expect([start2, end2]).toEqual([start, end])
        expect(periodStart(unit, end - 1, { timeZone })).toBe(start)
        // A long step, so that the test is short, which still lands in another period.
        time = unit === 'day' ? end + 9 * 24 * hourMs : end
      }
    }
  })

  test('unknown time zones are recognised', () => {
    expect(isTimeZone('Europe/Berlin')).toBe(true)
    expect(isTimeZone('utc')).toBe(true)
    expect(isTimeZone('Europe/Atlantis')).toBe(false)
    expect(isTimeZone('')).toBe(false)
    expect(() => periodStart('day', 0, { timeZone: 'Europe/Atlantis' })).toThrow(RangeError)
  })
})

test('the changes of the clocks are found, and nothing else', () => {
  const spans = (timeZone: string, from: string, to: string) =>
    offsetsIn(timeZone, Date.parse(from), Date.parse(to)).map(({ at, offsetMinutes }) => [
      new Date(at).toISOString(),
      offsetMinutes,
    ])
  expect(spans('Europe/Berlin', '2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z')).toEqual([
    ['2030-01-01T00:00:00.000Z', 60],
    ['2030-03-31T01:00:00.000Z', 120],
    ['2030-10-27T01:00:00.000Z', 60],
  ])
  expect(
    spans('Australia/Lord_Howe', '2024-01-01T00:00:00Z', '2024-12-01T00:00:00Z').map(([, offset]) => offset),
  ).toEqual([660, 630, 660])
  expect(spans('Asia/Kathmandu', '2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z')).toHaveLength(1)
  expect(spans('Europe/Berlin', '2030-03-31T01:00:00Z', '2030-03-31T01:00:00Z')).toEqual([
    ['2030-03-31T01:00:00.000Z', 120],
  ])
})
