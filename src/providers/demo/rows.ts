/** Processes an image row by row, split over several turns of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises'

const pixelsPerTurn = 131_072

export async function eachRow(
  { width, height }: { width: number; height: number },
  work: (y: number) => void,
): Promise<void> {
  const rows = Math.max(Math.floor(pixelsPerTurn / width), 1)
  for (let y = 0; y < height; y++) {
    if (y % rows === rows - 1) await nextTurn()
    work(y)
  }
}
