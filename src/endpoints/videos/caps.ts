/** The caps of a video task: what its hold counts, and what is stored with the task to settle it. */
import type { CapState } from '../../money/caps/contract.ts'
import type { CapPeriodLimits } from '../../admission/alert-thresholds.ts'
import type { CapHolds } from '../../admission/cap-holds.ts'
import type { CallerCap } from '../../admission/caps.ts'
import type { Settlement } from '../../money/ledger/contract.ts'
import { callerOf } from '../../tasks/owner.ts'
import type { CountedCap, StoredTask } from '../../tasks/task.ts'

/** The caps that apply to a task of a model. */
export function capsOfTask(caps: CapHolds, task: StoredTask, model: string): readonly CallerCap[] {
  return caps.of(callerOf(task), model)
}

/** The periods in which a hold counts, as stored with its task. */
export function countedCaps(states: readonly CapState[]): readonly CountedCap[] {
  return states.map(({ name, window, start, end, rollingMs, limits }) => {
    const entries = Object.entries(limits).map(([measure, limit]) => [measure, String(limit)])
    return { name, window, start, end, rollingMs, limits: Object.fromEntries(entries) as CountedCap['limits'] }
  })
}

/** The periods as the verdict on the hold had them. */
export function countedStates(counted: readonly CountedCap[]): readonly CapPeriodLimits[] {
  return counted.map(({ limits, ...period }) => {
    const entries = Object.entries(limits).map(([measure, limit]) => [measure, BigInt(limit)])
    return { ...period, limits: Object.fromEntries(entries) as CapState['limits'] }
  })
}

/** What the settlement of a task counts. */
export function settledCaps(
  caps: CapHolds,
  task: StoredTask,
  id: string,
  model: string,
): Pick<Settlement, 'caps' | 'tokens' | 'balanceThresholds'> {
  const { counted } = task.data
  const states = counted && countedStates(counted)
  return caps.counted(id, states === undefined ? [] : capsOfTask(caps, task, model), states, callerOf(task), 0)
}
