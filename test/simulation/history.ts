/** Runs one history on one kind of stores. Imported once everything of this thread is simulated. */
import { planOf, type Plan } from './plan.ts'
import { storesOf, type Kind } from './stores.ts'
import { World, type Outcome } from './world.ts'

/** Plays a plan. `logs`: whether to report what happened. */
export type Run = (plan: Plan, kind: Kind, logs?: boolean) => Promise<Outcome>

/** `database`: for stores in Postgres. */
export function runOn(database: Parameters<typeof storesOf>[0]): Run {
  const open = storesOf(database)
  return async (plan, kind, logs = false) =>
    new World(plan, (scheduler) => open(kind, scheduler, plan.isAmple), logs).play()
}

export { planOf }
