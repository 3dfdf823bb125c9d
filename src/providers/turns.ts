/**
 * Splits the work on a large request over several turns of the event loop: parsing, translating and serialising it block
 * the process for a noticeable time each.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Call } from './contract.ts'

/** For a large request, resolves in the next turn of the event loop; undefined for all others. */
export function othersTurn({ large }: Pick<Call<unknown>, 'large'>): Promise<void> | undefined {
  return large === true ? nextTurn() : undefined
}

/** Serialises a translated request as JSON. */
export async function serialize(call: Pick<Call<unknown>, 'large'>, body: object): Promise<Buffer> {
  await othersTurn(call)
  const text = JSON.stringify(body)
  await othersTurn(call)
  return Buffer.from(text)
}

/** Parses a large request in a turn of its own: `call.request` parses on first access. */
export async function forceParse(call: Pick<Call<unknown>, 'large' | 'request'>): Promise<void> {
  if (call.large === true && call.request !== undefined) await nextTurn()
}
