/** What the contracts of the stores of limits, idempotency keys and tasks say, as plainly as possible. */
import type { IdempotencyEnd, IdempotencyStart, IdempotencyVerdict } from '../../src/admission/idempotency/contract.ts'
import type { LimitClaim, LimitReturn, LimitVerdict, RateRule } from '../../src/money/limits/contract.ts'
import type { TaskClaim, TaskRecord } from '../../src/tasks/contract.ts'

/** Rates and places. */
export class LimitModel {
  readonly #buckets = new Map<string, { used: number; at: number; rule: RateRule }>()
  /** By limit, then by the id of the claim: the end of its lease. */
  readonly #places = new Map<string, Map<string, number>>()

  /** Undefined if the contract allows both: a rate may be off by what the resolution of a clock makes of it. */
  take({ id, rates, places, leaseMs }: LimitClaim, now: number, answer: boolean): boolean | undefined {
    const short = (slack: number) => rates.some((rule) => rule.burst - this.used(rule, now) + slack < rule.cost)
    const isFull = places.some(
      (rule) => this.holders(rule.bucket, now).filter((each) => each !== id).length >= rule.places,
    )
    const admitted = isFull || short(0.5) ? false : short(-0.5) ? undefined : true
    if (answer) {
      for (const rule of rates) this.#draw(rule, now)
      for (const { bucket } of places) this.#holdersOf(bucket).set(id, now + leaseMs)
    }
    return admitted
  }

  /** Throws if a verdict does not say what is left. To be called after the draw, if there was one. */
  requireLeft({ id, rates, places }: LimitClaim, { left, free }: LimitVerdict, isDrawn: boolean, now: number): void {
    for (const [at, rule] of rates.entries()) {
      const units = rule.burst - this.used(rule, now)
      if (Math.abs(units - (left[at] as number)) > 1)
        throw new Error(`${left[at]} are left of ${rule.bucket}, not ${units}`)
    }
    for (const [at, { bucket, places: all }] of places.entries()) {
      const freeSince = (since: number) =>
        all - this.holders(bucket, since).filter((each) => each !== id).length - (isDrawn ? 1 : 0)
      // Stores may look for lapsed leases once a second where it does not matter for the verdict.
      const isKnown = (free[at] as number) >= freeSince(now - 1_000) && (free[at] as number) < freeSince(now)
      if (!isKnown) requireSame(free[at], freeSince(now), `the free places of ${bucket}`)
    }
  }

  give({ id, places, corrections }: LimitReturn, now: number): void {
    for (const bucket of places) this.#holdersOf(bucket).delete(id)
    for (const rule of corrections) this.#draw(rule, now)
  }

  renew(holders: readonly Pick<LimitReturn, 'id' | 'places'>[], leaseMs: number, now: number): void {
    for (const { id, places } of holders) {
      for (const bucket of places)
        if (this.holders(bucket, now).includes(id)) this.#holdersOf(bucket).set(id, now + leaseMs)
    }
  }

  /** Draws for so many `calls` like the one of the claim. */
  drawAhead(slice: string, calls: number, { rates, places, leaseMs }: LimitClaim, now: number): void {
    for (const rule of rates) this.#draw({ ...rule, cost: rule.cost * calls }, now)
    for (const { bucket } of places) {
      for (let call = 0; call < calls; call++) this.#holdersOf(bucket).set(`${slice} ${call}`, now + leaseMs)
    }
  }

  /** A place of a slice becomes one of a call. */
  moveAhead(slice: string, { id, places, leaseMs }: LimitClaim, now: number): void {
    for (const { bucket } of places) {
      const place = this.holders(bucket, now).find((each) => each.startsWith(`${slice} `))
      if (place === undefined) continue
      this.#holdersOf(bucket).delete(place)
      this.#holdersOf(bucket).set(id, now + leaseMs)
    }
  }

  /** Frees the places that are left of a slice. */
  endAhead(slice: string): void {
    for (const holders of this.#places.values()) {
      for (const each of holders.keys()) if (each.startsWith(`${slice} `)) holders.delete(each)
    }
  }

  /** The claims that hold a place. */
  holders(bucket: string, now: number): readonly string[] {
    return [...this.#holdersOf(bucket)].filter(([, end]) => end > now).map(([id]) => id)
  }

  /** All places that are held. */
  held(now: number): readonly string[] {
    return [...this.#places.keys()].flatMap((bucket) => this.holders(bucket, now))
  }

  used({ bucket, limit, periodMs }: Pick<RateRule, 'bucket' | 'limit' | 'periodMs'>, now: number): number {
    const { used, at } = this.#buckets.get(bucket) ?? { used: 0, at: now }
    return Math.max(0, used - (Math.max(0, now - at) * limit) / periodMs)
  }

  /** Whether a rate of this account has less than `units` left. */
  isDrained(account: string, units: number, now: number): boolean {
    const rules = [...this.#buckets.values()].map(({ rule }) => rule)
    return rules.some((rule) => rule.bucket.includes(`"${account}"`) && rule.burst - this.used(rule, now) < units)
  }

  #draw(rule: RateRule, now: number): void {
    this.#buckets.set(rule.bucket, { used: Math.max(0, this.used(rule, now) + rule.cost), at: now, rule })
  }

  #holdersOf(bucket: string): Map<string, number> {
    let holders = this.#places.get(bucket)
    if (holders === undefined) this.#places.set(bucket, (holders = new Map()))
    return holders
  }
}

interface KeyRecord extends IdempotencyStart {
  until: number
  /** The end of the attempt. */
  end?: IdempotencyEnd
  /** The lease was over when the attempt ended, so that the store may have accepted it or not. */
  isOpen?: boolean
}

/** Idempotency keys. */
export class KeyModel {
  readonly #records = new Map<string, KeyRecord>()

  begin(start: IdempotencyStart, now: number, answer: IdempotencyVerdict): IdempotencyVerdict {
    const place = placeOf(start)
    const known = this.#records.get(place)
    if (known !== undefined && known.until > now && !(known.isOpen === true && answer.outcome === 'begun')) {
      if (known.end !== undefined) {
        const { answer: kept } = known.end
        return { outcome: 'ended', digest: known.digest, ...(kept && { answer: kept }) }
      }
      if (known.attempt !== start.attempt) return { outcome: 'running', digest: known.digest }
    }
    this.#records.set(place, { ...start, until: now + start.leaseMs })
    return { outcome: 'begun' }
  }

  finish(end: IdempotencyEnd, now: number): void {
    const known = this.#records.get(placeOf(end))
    if (known === undefined || known.attempt !== end.attempt || known.end !== undefined) return
    known.end = end
    known.isOpen = known.until <= now
    known.until = now + end.keepMs
  }

  forget(claim: IdempotencyStart): void {
    const known = this.#records.get(placeOf(claim))
    if (known?.attempt === claim.attempt && known.end === undefined) this.#records.delete(placeOf(claim))
  }

  /** All keys that attempts hold. */
  held(now: number): readonly string[] {
    return [...this.#records.keys()].filter((place) => {
      const { end, until } = this.#records.get(place) as KeyRecord
      return end === undefined && until > now
    })
  }

  /** The attempt that holds a key. */
  holder(claim: Pick<IdempotencyStart, 'account' | 'route' | 'key'>, now: number): string | undefined {
    const known = this.#records.get(placeOf(claim))
    return known === undefined || known.end !== undefined || known.until <= now ? undefined : known.attempt
  }
}

function placeOf({ account, route, key }: Pick<IdempotencyStart, 'account' | 'route' | 'key'>): string {
  return JSON.stringify([account, route, key])
}

/** Tasks. Each method gets what the store answered, and throws if the contract does not allow it. */
export class TaskModel {
  readonly tasks = new Map<string, TaskRecord>()
  /** The requests that have made a task, by its id: more than one only if an earlier task was deleted. */
  readonly attempts = new Map<string, Set<unknown>>()
  /** Until then, tasks that are over may have been deleted. */
  #latest = 0

  insert(task: TaskRecord, stored: TaskRecord): void {
    const known = this.tasks.get(nameOf(task))
    const isOver = (by: number) => known !== undefined && known.expiresAt <= by && known.dueAt === null
    // One that was over before the clock was set back may have been deleted.
    const isGone = isOver(task.createdAt) || (isOver(this.#latest) && stored.version === task.version)
    const expected = known === undefined || isGone ? task : known
    requireSame(stored, expected, 'insert')
    this.tasks.set(nameOf(task), stored)
    const { attempt } = stored.data as { readonly attempt?: unknown }
    this.attempts.set(stored.id, (this.attempts.get(stored.id) ?? new Set()).add(attempt))
  }

  find(account: string, id: string, now: number, found: TaskRecord | undefined): void {
    const known = this.tasks.get(nameOf({ account, id }))
    if (found === undefined && known?.dueAt === null && known.expiresAt <= this.#latest) return
    requireSame(found, known !== undefined && known.expiresAt > now ? known : undefined, 'find')
  }

  replace(task: TaskRecord, done: boolean): void {
    requireSame(done, this.tasks.get(nameOf(task))?.version === task.version - 1, 'replace')
    if (done) this.tasks.set(nameOf(task), task)
  }

  claim({ now, leaseMs, limit }: TaskClaim, claimed: readonly TaskRecord[]): void {
    this.#latest = Math.max(this.#latest, now)
    const isDue = ({ dueAt, leasedUntil }: TaskRecord) => dueAt !== null && dueAt <= now && leasedUntil <= now
    const due = [...this.tasks.values()].filter(isDue)
    requireSame(claimed.length, Math.min(limit, due.length), 'claim: the number of tasks')
    for (const task of claimed) {
      const known = this.tasks.get(nameOf(task)) as TaskRecord
      if (!isDue(known)) throw new Error('claim: a task that is not due, or leased to another process')
      requireSame(task, { ...known, version: known.version + 1, leasedUntil: now + leaseMs }, 'claim')
      this.tasks.set(nameOf(task), task)
    }
  }
}

function nameOf({ account, id }: Pick<TaskRecord, 'account' | 'id'>): string {
  return `${account} ${id}`
}

export function requireSame(given: unknown, expected: unknown, what: string): void {
  if (!isSame(given, expected))
    throw new Error(`${what} is ${textOf(given)}, and should be ${textOf(expected)}`.slice(0, 400))
}

/** Whether two values are the same data; undefined fields and absent ones are. */
function isSame(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right
  if (ArrayBuffer.isView(left)) return Buffer.compare(left as Uint8Array, right as Uint8Array) === 0
  const [is, should] = [left as Record<string, unknown>, right as Record<string, unknown>]
  for (const name in is) if (!isSame(is[name], should[name])) return false
  for (const name in should) if (is[name] === undefined && should[name] !== undefined) return false
  return true
}

function textOf(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
