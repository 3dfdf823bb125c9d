import type { Plan } from './plan.ts'

/** The shortest plan found that `fails`: parts of its events are left out, in halves and then one by one. */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let found = plan
  for (let size = Math.ceil(plan.events.length / 2); ; size = Math.min(Math.ceil(size / 2), found.events.length)) {
    let wasShorter = false
    for (let from = found.events.length - size; from > -size; from -= size) {
      const events = found.events.filter((_, at) => at < from || at >= from + size)
      const shorter = { ...found, events }
      if (events.length === found.events.length || !(await fails(shorter))) continue
      found = shorter
      wasShorter = true
    }
    if (size <= 1 && !wasShorter) return found
  }
}
