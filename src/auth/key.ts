/** Making keys and hashing them. */
import crypto, { randomBytes, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import type { Rate } from '../limits/rate.ts'
import { anyText, instant, rate, strict, verify } from '../validation/rules.ts'
import type { KeyRecord } from './contract.ts'

/** SHA-256 of a key, 64 hex digits. All that is ever stored, cached or compared of it. */
export function hashKey(key: string): string {
  return crypto.hash('sha256', key, 'hex')
}

/** Compares two hashes without telling by the time it takes how many digits agree. */
export function sameHash(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right))
}

export interface MintOptions {
  readonly account: string
  readonly group: string
  readonly name?: string
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
  /** Limits of this key alone, beside those of its group. */
  readonly rate?: Rate
  /** What every key begins with. Default `sk-`. */
  readonly prefix?: string
}

export interface MintedKey {
  /** The key itself. Show it to its owner once: it cannot be recovered. */
  readonly key: string
  /** What to put into a `KeyStore`. */
  readonly record: KeyRecord
}

const mintRule = strict({
  account: anyText,
  group: anyText,
  name: z.string().optional(),
  expiresAt: instant.optional(),
  rate: rate.optional(),
  prefix: z
    .string()
    .regex(/^[\x21-\x7e]*$/, 'must be of visible ASCII characters')
    .optional(),
})

/** A new key of 256 random bits, and the record that lets it in once it is stored. */
export function mintKey(options: MintOptions, now: number = Date.now()): MintedKey {
  verify(mintRule, options, '', 'mintKey')
  const { prefix = 'sk-', ...rest } = options
  const key = prefix + randomBytes(32).toString('base64url')
  return { key, record: { ...recordOf(key, rest, now), id: `key_${randomBytes(12).toString('base64url')}` } }
}

/** The record of a key that the host has chosen itself. Its id follows from the key, so that it is stable. */
export function recordOf(key: string, owner: Omit<MintOptions, 'prefix'>, now: number): KeyRecord {
  const hash = hashKey(key)
  // A quarter of the key at most is kept in the clear, however short the key is.
  const shown = key.slice(0, Math.min(8, Math.floor(key.length / 4)))
  return { ...owner, id: `key_${hash.slice(0, 16)}`, hash, prefix: shown, createdAt: now, version: 1 }
}
