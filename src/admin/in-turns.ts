import { setImmediate as nextTurn } from 'node:timers/promises'

/** How many items are mapped, or printed, in one turn of the event loop. */
export const itemsPerTurn = 1_000

/** Maps what may be many items, in several turns of the event loop, so that other calls run in between. */
export async function mapInTurns<From, To>(items: readonly From[], map: (item: From) => To): Promise<To[]> {
  const mapped: To[] = []
  for (const item of items) if (mapped.push(map(item)) % itemsPerTurn === 0) await nextTurn()
  return mapped
}
