/** Money of an account that expires: which of it charges have used up, the soonest to expire first. */
import type { LotState } from './contract.ts'

/** A credit, as far as charges have not used it up. */
export interface Lot {
  /** That of the credit. */
  readonly reference: string
  /** In micro-units. */
  readonly left: bigint
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  /** What follows when it expires. Absent: nothing. */
  readonly allowance?: Allowance
  /** How often a part of it was taken back since it expired, because open holds had the rest. */
  readonly taken?: number
}

/** A credit that is made anew in each period, and expires at its end. */
export interface Allowance {
  /** The part of the reference that all its credits share. */
  readonly reference: string
  /** In micro-units. */
  readonly amount: bigint
  readonly period: 'day' | 'week' | 'month'
  readonly timeZone: string
}

/** The lots of an account at a time at which its charges were `settled`. */
export interface Lots {
  readonly settled: bigint
  /** Those that expire first come first. */
  readonly lots: readonly Lot[]
  /** How far the entries of the account were exported, by the names of exports. */
  readonly exported?: Readonly<Record<string, Exported>>
}

/** How far entries were exported, by their numbers. */
export interface Exported {
  /** Up to here they were sent. */
  readonly done: number
  /** Up to here they are being sent. */
  readonly to?: number
  /** When another process may send them. Milliseconds since the epoch. */
  readonly until?: number
}

/**
 * The lots now. What was charged since they were stored is taken from the first of them on: between two changes of the lots
 * their order is the same, so that it does not matter when it was charged.
 */
export function lotsOf({ lots: text, settled }: Pick<LotState, 'lots' | 'settled'>): Lots {
  const known = text === undefined ? { settled, lots: [] } : parse(text)
  return spent(known, settled)
}

/**
 * The lots when the charges are `settled`. Those that are used up stay until they expire: then a part of one may have been taken
 * back by a process that could not write it down, and what was charged since belongs to the next ones.
 */
export function spent({ settled: before, lots, ...rest }: Lots, settled: bigint): Lots {
  let open = settled - before
  const left = lots.map((lot) => {
    const used = lot.left < open ? lot.left : open
    open -= used
    return { ...lot, left: lot.left - used }
  })
  return { ...rest, settled, lots: left }
}

/** With another lot. */
export function withLot({ lots, ...rest }: Lots, lot: Lot): Lots {
  return { ...rest, lots: [...lots, lot].sort((left, right) => left.expiresAt - right.expiresAt) }
}

/** How a store keeps them. */
export function allotmentOf(all: Lots, was: number): { was: number; lots: string; due?: number } {
  const text = JSON.stringify(all, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  const [first] = all.lots
  return { was, lots: text, ...(first && { due: first.expiresAt }) }
}

/** What a credit with `spentTo` books. */
export function takenOf(state: Omit<LotState, 'version'>, amount: bigint, spentTo: bigint): bigint {
  const { balance, held, settled } = state
  const most = [-amount, spentTo - settled - held, balance].reduce((left, right) => (right < left ? right : left))
  return most > 0n ? -most : 0n
}

type Stored<T> = { readonly [Name in keyof T]: T[Name] extends bigint ? string : T[Name] }

function parse(text: string): Lots {
  const { settled, lots, ...rest } = JSON.parse(text) as Pick<Lots, 'exported'> & {
    readonly settled: string
    readonly lots: readonly (Stored<Omit<Lot, 'allowance'>> & { readonly allowance?: Stored<Allowance> })[]
  }
  return {
    ...rest,
    settled: BigInt(settled),
    lots: lots.map(({ left, allowance, ...lot }) => ({
      ...lot,
      left: BigInt(left),
      ...(allowance && { allowance: { ...allowance, amount: BigInt(allowance.amount) } }),
    })),
  }
}
