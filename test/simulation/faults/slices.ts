/** Faults of what a process draws in advance. */
import type { Edits } from './edits.ts'

export const inSlices: Edits = {
  'src/admission/slices/slice.ts': [
    ['a slice admits beyond its time', 'performance.now() < this.until', 'performance.now() < Infinity'],
    ['a draw leaves the money of its slice', '    this.#money -= amount\n', ''],
    ['a draw leaves the calls of its slice', '    this.#calls--\n', ''],
    ['a draw leaves the units of its slice', '      ;(this.#units[index] as number) -= cost\n', ''],
  ],
  'src/admission/slices/slices.ts': [
    [
      'draws that a store did not accept are forgotten',
      '    this.#ended = []\n    return this.#tell(',
      '    this.#ended = []\n    this.#draws.clear()\n    return this.#tell(',
    ],
    [
      'returns are repeated with their corrections',
      'map((each) => ({ ...each, corrections: [] }))',
      'map((each) => each)',
    ],
    ['a slice without an answer is not returned', 'const rest = { id: wish.id,', 'const rest = { id: hold.id,'],
    [
      'slices are not returned when their time is over',
      'setTimeout(() => this.#isDue(name, slice),',
      'setTimeout(() => undefined,',
    ],
    ['a slice is returned and admits on', '    this.#slices.delete(name)\n', ''],
  ],
}
