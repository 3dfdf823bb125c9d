/** Changes of an answer between the reader of the vendor's wire and the writer of the client's. */
import type { Part } from '../../conversation/parts.ts'

/** Takes each part and returns those to pass on; made anew for each answer. */
export interface Stage {
  (part: Part): readonly Part[]
  /** The parts that it changes: a whole answer without them passes as it is. */
  readonly of: Part['kind']
}

export function stage(of: Part['kind'], change: (part: Part) => readonly Part[]): Stage {
  return Object.assign(change, { of })
}

/** The parts after all stages. */
export function staged(parts: readonly Part[], stages: readonly Stage[]): readonly Part[] {
  let list = parts
  for (const each of stages) {
    const changed: Part[] = []
    for (const part of list) for (const next of each(part)) changed.push(next)
    list = changed
  }
  return list
}
