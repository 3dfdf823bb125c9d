/** One call in an answer, for vendors that cannot be told so: further ones are dropped. */
import { stage, type Stage } from './stage.ts'

export function firstCall(): Stage {
  /** The block of the only call of each choice. */
  const kept = new Map<number, number>()
  const dropped = new Set<number>()
  return stage('call', (part) => {
    if (part.kind === 'call') {
      const first = kept.get(part.choice)
      if (first === undefined) kept.set(part.choice, part.block)
      else dropped.add(part.block)
    }
    return 'block' in part && dropped.has(part.block) ? [] : [part]
  })
}
