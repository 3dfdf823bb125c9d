/** A large request is worked on in several turns of the event loop: reading, translating and printing it take long enough. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Call } from './contract.ts'

/** Between two pieces of work on one request; nothing to wait for where it is small. */
export function othersTurn({ large }: Pick<Call<unknown>, 'large'>): Promise<void> | undefined {
  return large === true ? nextTurn() : undefined
}

/** A translated request as JSON in UTF-8. */
export async function printed(call: Pick<Call<unknown>, 'large'>, body: object): Promise<Buffer> {
  await othersTurn(call)
  const text = JSON.stringify(body)
  await othersTurn(call)
  return Buffer.from(text)
}

/** Parses what is not parsed yet, and lets others have their turn. */
export async function parsed(call: Pick<Call<unknown>, 'large' | 'request'>): Promise<void> {
  if (call.large === true && call.request !== undefined) await nextTurn()
}
