/** Rendezvous hashing: each candidate draws a number for a conversation, the same in every process, and the highest one is chosen. */
import { hash } from 'node:crypto'

/** What a conversation or a candidate is known by. */
export interface Seed {
  readonly high: number
  readonly low: number
}

export function seedOf(name: string): Seed {
  const digest = hash('sha1', name, 'buffer')
  return { high: digest.readUInt32BE(0), low: digest.readUInt32BE(4) }
}

/** A number between 0 and 1. One hash for each conversation and candidate, and not for each pair, because hashes take microseconds. */
export function draw(conversation: Seed, candidate: Seed): number {
  const high = mixed(conversation.high ^ candidate.high)
  const low = mixed((conversation.low ^ candidate.low) + high)
  return (high * 2 ** 20 + (low >>> 12) + 0.5) / 2 ** 52
}

/** The finalizer of MurmurHash3, which is public domain. */
function mixed(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
