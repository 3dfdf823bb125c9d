/**
 * Slices, a design for fleets: a process takes part of an account's balance as its slice, holds calls from it without asking, and
 * journals what they cost. A recall asks for slices back before anyone is refused; the slices of a process that is gone return
 * once it can draw no more.
 */
import type { Model } from './explore.ts'

interface Process {
  /** Its slice in the store; undefined once a sweep has given it back. */
  readonly slice: number | undefined
  /** Of the slice: free, and used by calls that are not journaled. Each open call holds `need`. */
  readonly free: number
  readonly used: number
  readonly open: number
  readonly is: 'running' | 'suspended' | 'dead'
  /** What it knows of a recall: nothing, that there is one, or that it has given back what was idle. */
  readonly recall: 'unseen' | 'seen' | 'acknowledged'
}

interface State {
  readonly balance: number
  readonly settled: number
  readonly begun: number
  readonly isRecalled: boolean
  /** Whether a process has already died or been suspended, and charged calls after its lease. */
  readonly hasFailed: boolean
  readonly late: number
  readonly processes: readonly Process[]
}

/** What can be wrong on purpose. */
export type SliceFault = 'swept while it can draw' | 'refuses without waiting' | 'keeps its rest'

const need = 2
const price = 1

export function slicesModel(credit: number, calls: number, processes: number, fault?: SliceFault): Model<State> {
  const process: Process = { slice: 0, free: 0, used: 0, open: 0, is: 'running', recall: 'unseen' }
  const all = Array.from({ length: processes }, () => process)
  const first = { balance: credit, settled: 0, begun: 0, isRecalled: false, hasFailed: false, late: 0, processes: all }
  return { first, next: (state) => next(state, calls, fault), check: (state) => check(state, credit), key }
}

function* next(state: State, calls: number, fault: SliceFault | undefined): Generator<State> {
  for (const [at, own] of state.processes.entries()) {
    const to = (changes: Partial<Process>, rest: Partial<State> = {}): State => ({
      ...state,
      ...rest,
      processes: state.processes.with(at, { ...own, ...changes }),
    })
    const { slice, free, used, open, is, recall } = own
    const { balance, isRecalled, begun } = state
    if (is === 'running' && slice !== undefined && free < need) {
      if (balance >= need && !isRecalled && recall === 'unseen') {
        yield to({ slice: slice + need, free: free + need }, { balance: balance - need })
        if (balance >= 2 * need)
          yield to({ slice: slice + 2 * need, free: free + 2 * need }, { balance: balance - 2 * need })
      } else if (balance >= need && begun < calls) {
        // Under a recall a hold is its caller's at once.
        const seen = recall === 'unseen' ? 'seen' : recall
        yield to({ slice: slice + need, open: open + 1, recall: seen }, { balance: balance - need, begun: begun + 1 })
      } else if (balance < need) {
        const others = state.processes.filter((_, other) => other !== at)
        const isPending = others.some((each) => (each.slice ?? 0) > 0 && each.recall !== 'acknowledged')
        if (!isRecalled && isPending) yield to({}, { isRecalled: true })
        if (!isPending || fault === 'refuses without waiting') {
          if (free > 0 && balance + free >= need && fault !== 'keeps its rest') yield to(...givenBack(own, balance))
          else if (others.some((each) => each.is === 'running' && each.free >= need)) {
            throw new Error('a call is refused while a process has room for it')
          } else if (fault === 'keeps its rest' && free > 0 && balance + free >= need) {
            throw new Error('a call is refused although its process has the rest')
          }
        }
      }
    }
    if (is === 'running' && free >= need && begun < calls) {
      yield to({ free: free - need, open: open + 1 }, { begun: begun + 1 })
    }
    if (is === 'running' && slice !== undefined && isRecalled && recall === 'unseen') yield to({ recall: 'seen' })
    if (is !== 'dead' && open > 0) {
      const ended = { ...own, open: open - 1, free: free + need - price, used: used + price }
      // Under a recall an ending is journaled at once.
      if (recall === 'unseen' || slice === undefined) yield to(ended)
      else yield journaled(state, ended, (changes, rest) => to({ ...ended, ...changes }, rest))
    }
    if (is !== 'dead' && (used > 0 || recall === 'seen')) yield journaled(state, own, to)
    if (is === 'running' && !state.hasFailed) {
      yield to({ is: 'dead' }, { hasFailed: true })
      yield to({ is: 'suspended' }, { hasFailed: true })
    }
    const isSwept = is !== 'running' || (fault === 'swept while it can draw' && !state.hasFailed)
    if (slice !== undefined && isSwept) yield to({ slice: undefined }, { balance: balance + slice, hasFailed: true })
  }
}

function givenBack({ slice = 0, free }: Process, balance: number): [Partial<Process>, Partial<State>] {
  return [{ slice: slice - free, free: 0 }, { balance: balance + free }]
}

/** Books what calls have cost, and gives back what is idle if there is a recall. Without a slice, the balance pays. */
function journaled(
  { balance, settled, late }: State,
  { slice, free, used, recall }: Process,
  to: (changes: Partial<Process>, rest: Partial<State>) => State,
): State {
  if (slice === undefined) {
    return to(
      { used: 0, recall: 'acknowledged' },
      { settled: settled + used, balance: balance - used, late: late + used },
    )
  }
  const back = recall === 'unseen' ? 0 : free
  const changes = { used: 0, slice: slice - used - back, free: free - back }
  return to(recall === 'unseen' ? changes : { ...changes, recall: 'acknowledged' }, {
    settled: settled + used,
    balance: balance + back,
  })
}

function check({ balance, settled, late, processes }: State, credit: number): void {
  const slices = processes.reduce((sum, { slice = 0 }) => sum + slice, 0)
  if (balance + slices + settled !== credit) throw new Error('credits are not balance + slices + settlements')
  if (late === 0 && balance < 0) throw new Error('the balance is below zero, and no call has outlived its lease')
  for (const { slice, free, open, used, is } of processes) {
    if (is !== 'dead' && slice !== undefined && free + open * need + used !== slice) {
      throw new Error('a slice is not what is free, open and used')
    }
    if (is === 'running' && slice === undefined && free >= need) {
      throw new Error('the same money can be drawn by a process and is in the balance')
    }
  }
}

function key({ processes, ...rest }: State): string {
  return `${Object.values(rest).join()} ${processes
    .map((process) => Object.values(process).join())
    .sort()
    .join(' ')}`
}
