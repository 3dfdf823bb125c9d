/** The buckets and places of a batch of calls: locked, read, changed and written back. */
import type { LimitClaim, LimitReturn, LimitVerdict, RateRule, SliceDraw, SliceWish } from '../index.ts'
import type { Ask } from './transaction.ts'
import { insertRows, lockRows, marks, timeOf } from './locks.ts'

interface Bucket {
  used: number
  at: number
  held: number
  soonest: number
  isChanged: boolean
}

interface Place {
  readonly bucket: string
  readonly holder: string
}

type Claimed = Pick<LimitClaim, 'id' | 'rates' | 'places'>

export class Buckets {
  readonly #ask: Ask
  readonly #buckets = new Map<string, Bucket>()
  /** The places of the calls of the batch: when their leases end, or undefined if they are free. */
  readonly #places = new Map<string, Place & { ends: number | undefined; count: number; isChanged: boolean }>()
  #now = 0

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** Returns the time. */
  async lock(claims: readonly Claimed[], returns: readonly LimitReturn[]): Promise<number> {
    const names = [
      ...claims.flatMap(({ rates, places }) => [...rates, ...places].map(({ bucket }) => bucket)),
      ...returns.flatMap(({ places, corrections }) => [...places, ...corrections.map(({ bucket }) => bucket)]),
    ]
    const locked = await lockRows(this.#ask, 'buckets', 'name', names)
    for (const [name, { row }] of locked) {
      const soonest = row['soonest'] === null ? Infinity : Number(row['soonest'])
      const [used, at, held] = [Number(row['used']), Number(row['at']), Number(row['held'])]
      this.#buckets.set(name, { used, at, held, soonest, isChanged: false })
    }
    return timeOf(locked)
  }

  /** Reads the places of the calls, and frees those whose leases have ended. */
  async read(now: number, claims: readonly Claimed[], returns: readonly LimitReturn[]): Promise<void> {
    this.#now = now
    const expired = claims.flatMap(({ places }) =>
      places.map(({ bucket }) => bucket).filter((name) => (this.#buckets.get(name)?.soonest ?? 0) <= now),
    )
    if (expired.length > 0) await this.#free([...new Set(expired)])
    const wanted: Place[] = [
      ...claims.flatMap(({ id, places }) => places.map(({ bucket }) => ({ bucket, holder: id }))),
      ...returns.flatMap(({ id, places }) => places.map((bucket) => ({ bucket, holder: id }))),
    ]
    for (const place of wanted)
      this.#places.set(nameOf(place), { ...place, ends: undefined, count: 1, isChanged: false })
    if (wanted.length === 0) return
    const { rows } = await this.#ask(
      `SELECT bucket, holder, ends, count FROM @.places FORCE INDEX (PRIMARY) WHERE ${whichPlaces(wanted)}`,
      wanted.flatMap(({ bucket, holder }) => [bucket, holder]),
    )
    for (const row of rows) {
      const place = { bucket: row['bucket'] as string, holder: row['holder'] as string }
      this.#places.set(nameOf(place), {
        ...place,
        ends: Number(row['ends']),
        count: Number(row['count']),
        isChanged: false,
      })
    }
  }

  async #free(names: readonly string[]): Promise<void> {
    this.#ask.later(`DELETE FROM @.places WHERE bucket IN (${marks(names)}) AND ends <= ?`, [...names, this.#now])
    const { rows } = await this.#ask(
      `SELECT bucket, sum(count) AS held, min(ends) AS soonest FROM @.places WHERE bucket IN (${marks(names)}) GROUP BY bucket`,
      names,
    )
    const left = new Map(rows.map((row) => [row['bucket'], row]))
    for (const name of names) {
      const row = left.get(name)
      const soonest = row === undefined ? Infinity : Number(row['soonest'])
      Object.assign(this.#bucket(name), { held: Number(row?.['held'] ?? 0), soonest, isChanged: true })
    }
  }

  /** The verdict on a claim, before anything is drawn. */
  check({ id, rates, places }: LimitClaim): LimitVerdict {
    const left = rates.map((rule) => rule.burst - this.#used(rule))
    const free = places.map(({ bucket, places: most }) => {
      const own = this.#places.get(nameOf({ bucket, holder: id }))?.ends === undefined ? 0 : 1
      return most - this.#bucket(bucket).held + own
    })
    const fits = rates.every(({ cost }, index) => (left[index] as number) >= cost)
    return { admitted: fits && free.every((each) => each >= 1), left, free }
  }

  draw({ id, rates, places, leaseMs }: LimitClaim): void {
    for (const rule of rates) this.#spend(rule)
    const ends = this.#now + leaseMs
    for (const { bucket } of places) {
      const own = this.#bucket(bucket)
      this.#move(bucket, id, ends)
      Object.assign(own, { soonest: Math.min(own.soonest, ends), isChanged: true })
    }
  }

  /** Draws a slice for so many calls like the one of the claim. */
  drawAhead({ rates, places, leaseMs }: LimitClaim, { id }: SliceWish, calls: number): void {
    for (const rule of rates) this.#spend({ ...rule, cost: rule.cost * calls })
    for (const { bucket } of places) {
      Object.assign(this.#place({ bucket, holder: id }), { count: calls })
      this.#move(bucket, id, this.#now + leaseMs)
      const own = this.#bucket(bucket)
      own.soonest = Math.min(own.soonest, this.#now + leaseMs)
    }
  }

  /** Moves a place of a slice to the call that it has admitted. */
  moveDraw({ slice, claim: { id, places, leaseMs } }: SliceDraw): void {
    const ends = this.#now + leaseMs
    for (const { bucket } of places) {
      const from = this.#place({ bucket, holder: slice })
      const to = this.#place({ bucket, holder: id })
      if (from.ends === undefined || from.count < 1 || to.ends !== undefined) continue
      Object.assign(from, { count: from.count - 1, isChanged: true })
      Object.assign(to, { ends, isChanged: true })
      const own = this.#bucket(bucket)
      Object.assign(own, { soonest: Math.min(own.soonest, ends), isChanged: true })
    }
  }

  give({ id, places, corrections }: LimitReturn): void {
    for (const bucket of places) this.#move(bucket, id, undefined)
    for (const rule of corrections) this.#spend(rule)
  }

  write(): void {
    const changed = [...this.#buckets].filter(([, { isChanged }]) => isChanged)
    const columns = ['used', 'at', 'held', 'soonest']
    const rows = changed.map(([name, { used, at, held, soonest }]) => {
      return [name, used, at, held, soonest === Infinity ? null : soonest]
    })
    insertRows(this.#ask, 'buckets', ['name', ...columns], rows, columns)
    const moved = [...this.#places.values()].filter(({ isChanged }) => isChanged)
    const taken = moved.filter(({ ends }) => ends !== undefined)
    const freed = moved.filter(({ ends }) => ends === undefined)
    const places = taken.map(({ bucket, holder, ends, count }) => [bucket, holder, ends, count])
    insertRows(this.#ask, 'places', ['bucket', 'holder', 'ends', 'count'], places, ['ends', 'count'])
    if (freed.length > 0)
      this.#ask.later(
        `DELETE FROM @.places WHERE ${whichPlaces(freed)}`,
        freed.flatMap(({ bucket, holder }) => [bucket, holder]),
      )
  }

  #bucket(name: string): Bucket {
    return this.#buckets.get(name) as Bucket
  }

  #move(bucket: string, holder: string, ends: number | undefined): void {
    const place = this.#places.get(nameOf({ bucket, holder }))
    if (place === undefined || place.ends === ends) return
    const own = this.#bucket(bucket)
    own.held += place.count * (Number(ends !== undefined) - Number(place.ends !== undefined))
    own.isChanged = true
    Object.assign(place, { ends, isChanged: true })
  }

  #used({ bucket, limit, periodMs }: RateRule): number {
    const { used, at } = this.#bucket(bucket)
    return Math.max(0, used - (Math.max(0, this.#now - at) * limit) / periodMs)
  }

  #place(place: Place) {
    return this.#places.get(nameOf(place)) as { ends: number | undefined; count: number }
  }

  #spend(rule: RateRule): void {
    const bucket = this.#bucket(rule.bucket)
    const used = Math.max(0, this.#used(rule) + rule.cost)
    Object.assign(bucket, { used, at: Math.max(bucket.at, this.#now), isChanged: true })
  }
}

/** The condition that selects places, with two values for each. */
export function whichPlaces(places: readonly unknown[]): string {
  return places.map(() => '(bucket = ? AND holder = ?)').join(' OR ')
}

function nameOf({ bucket, holder }: Place): string {
  return JSON.stringify([bucket, holder])
}
