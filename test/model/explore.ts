/** A model whose states can be explored completely. States are equal if their keys are. */
export interface Model<State> {
  readonly first: State
  /** All states that can follow. Throws if a step itself must not happen. */
  readonly next: (state: State) => Iterable<State>
  /** Throws if the state must not be. `isLast`: nothing can follow. */
  readonly check: (state: State, isLast: boolean) => void
  readonly key: (state: State) => string
}

export interface Explored {
  readonly states: number
  readonly steps: number
  /** Why the model is wrong, and the shortest way to it. */
  readonly violation?: { readonly message: string; readonly path: readonly string[] }
}

/** Visits every state that can be reached, nearest first. `keepsPaths`: needed for the path of a violation, and memory. */
export function explore<State>({ first, next, check, key }: Model<State>, keepsPaths = false): Explored {
  const seen = new Set([key(first)])
  const before = new Map<string, string>()
  let queue = [first]
  let steps = 0
  while (queue.length > 0) {
    const later: State[] = []
    for (const state of queue) {
      try {
        let isLast = true
        for (const following of next(state)) {
          isLast = false
          steps++
          const name = key(following)
          if (seen.has(name)) continue
          seen.add(name)
          if (keepsPaths) before.set(name, key(state))
          later.push(following)
        }
        check(state, isLast)
      } catch (error) {
        const path = [key(state)]
        for (let at = before.get(key(state)); at !== undefined; at = before.get(at)) path.unshift(at)
        return { states: seen.size, steps, violation: { message: (error as Error).message, path } }
      }
    }
    queue = later
  }
  return { states: seen.size, steps }
}
