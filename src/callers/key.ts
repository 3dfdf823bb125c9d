import crypto, { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { anyText, strict, verify } from '../records/rules.ts'
import type { KeyRecord } from './contract.ts'
import { newKeyShape, type KeyProperties } from './key-fields.ts'
import { user } from './key-rules.ts'

/** SHA-256 of a key as 64 hex digits: the only form in which a key is stored, cached or compared. */
export function hashKey(key: string): string {
  return crypto.hash('sha256', key, 'hex')
}

/** Compares two hashes in a time that does not depend on where they differ. */
export function sameHash(left: string, right: string): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at)
  return difference === 0
}

/** What a new key is for. */
export interface MintOptions extends KeyProperties {
  /** The account that pays, and that owns what the key creates. */
  readonly account: string
  /** The model group the key belongs to. */
  readonly group: string
  /** Prefix of the key. Default `sk-`. */
  readonly prefix?: string
}

/** A new key and its record. */
export interface MintedKey {
  /** The secret key. Show it to its owner once: it cannot be recovered. */
  readonly key: string
  /** The record to insert into a `KeyStore`. */
  readonly record: KeyRecord
}

const mintRule = strict({
  account: user,
  group: anyText,
  ...newKeyShape,
  prefix: z
    .string()
    .regex(/^[\x21-\x7e]*$/, 'must consist of visible ASCII characters')
    .optional(),
})

/** Creates a key of 256 random bits and its record. The key works once the record is in the key store. */
export function mintKey(options: MintOptions, now: number = Date.now()): MintedKey {
  verify(mintRule, options, '', 'mintKey')
  const { prefix = 'sk-', ...rest } = options
  const key = prefix + randomBytes(32).toString('base64url')
  return { key, record: { ...keyRecord(key, rest, now), id: `key_${randomBytes(12).toString('base64url')}` } }
}

/** The record of a key that the host has chosen. Its id is derived from the key, so that it is stable. */
export function keyRecord(key: string, owner: Omit<MintOptions, 'prefix'>, now: number): KeyRecord {
  const hash = hashKey(key)
  // Even of a short key, at most a quarter is stored in plain text.
  const shown = key.slice(0, Math.min(8, Math.floor(key.length / 4)))
  return { ...owner, id: `key_${hash.slice(0, 16)}`, hash, prefix: shown, createdAt: now, version: 1 }
}
