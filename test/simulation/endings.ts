/** What ended calls and videos have cost, and that these are submitted once. */
import type { TaskRecord } from '../../src/tasks/contract.ts'
import { fromRecord } from '../../src/tasks/stored.ts'
import type { VideoTask } from '../../src/tasks/task.ts'
import type { Request } from './request.ts'
import { leaseMs, type Seen } from './seen.ts'

export class Endings {
  readonly #seen: Seen

  constructor(seen: Seen) {
    this.#seen = seen
  }

  /** The store has answered to a settlement. */
  settled(id: string): void {
    const seen = this.#seen
    const ended = seen.traces.ledger.ended.get(id)
    const request = seen.requests.get(id)
    if (ended === undefined || request === undefined || ended.kind !== 'settle') return
    if (ended.overage > 0n && seen.isHealthy(request.machine, seen.scheduler.now - request.startedAt + leaseMs)) {
      seen.violate('a hold covers its call', `${id} was charged ${ended.overage} more than was held`)
    }
    const counts = seen.plan.caps ? { caps: 2, tokens: ended.amount } : { caps: 0, tokens: 0n }
    if (ended.periods.length !== counts.caps || ended.tokens !== counts.tokens) {
      seen.violate(
        'a settlement counts for all its caps',
        `${id}: ${ended.periods.length} caps, ${ended.tokens} tokens`,
      )
    }
  }

  chargedOnce({ id, machine, outcome, cost = 0n, reported, unsettled }: Request): void {
    const seen = this.#seen
    const ended = seen.traces.ledger.ended.get(id)
    const charged = ended?.amount ?? 0n
    if (unsettled === true) return
    // A process that was killed may not have come to settling. What it has settled is exact.
    const isLost = machine.isDead && ended === undefined
    if (outcome !== undefined && !isLost && charged !== cost) {
      seen.violate('each call is charged once', `${id} ${outcome} for ${cost}, and was charged ${charged}`)
    }
    const most = reported ?? 0n
    if (outcome === undefined && charged > 0n) seen.violate('each call is charged once', `${id} has no receipt`)
    const drawn = seen.traces.drawn.get(id)
    if (
      outcome === 'completed' &&
      !seen.wasDisturbed(machine) &&
      seen.plan.rate.tokens !== undefined &&
      drawn !== Number(reported)
    ) {
      seen.violate('rates count what calls use', `${id} has drawn ${drawn} of ${reported}`)
    }
    if (outcome === 'completed' && cost !== most) seen.violate('a call costs what its vendor reports', id)
  }

  submittedOnce(): void {
    const { jobs, traces } = this.#seen
    for (const { token } of jobs) {
      const own = jobs.filter((job) => job.token === token)
      // For a while after the clock of the stores has jumped, processes disagree about when a lease has ended.
      const isUnsure = own.some(({ at }) => this.#seen.hasJumped(at))
      if (!isUnsure && own.length > (traces.tasks.attempts.get(token)?.size ?? 0))
        this.#seen.violate('a task is submitted at most once', `${token} has ${own.length} jobs`)
    }
  }

  taskEnded(record: TaskRecord): void {
    const seen = this.#seen
    const { id, data, dueAt } = fromRecord<VideoTask>(record)
    if (!data.settled || dueAt !== null) return seen.violate('every task ends', `${id} is ${data.state}`)
    const jobs = seen.jobs.filter(({ token }) => token === id)
    // One that was deleted may have been made anew: the jobs of both have its id.
    const job = jobs.length < (seen.traces.tasks.attempts.get(id)?.size ?? 0) ? undefined : jobs[0]
    const ended = seen.traces.ledger.ended.get(data.attempt)
    const cost = data.state === 'completed' || data.charged === true ? BigInt(data.held ?? 0) : 0n
    if ((ended?.amount ?? 0n) !== cost) {
      seen.violate('each task is charged once', `${id} is ${data.state}: ${ended?.amount} of ${cost}`)
    }
    if (data.state === 'completed' && jobs.length === 0) seen.violate('a completed task has a job', id)
    const isUnknown = data.error?.code === 'submission_unknown' || data.error?.code === 'expired'
    if (job !== undefined && data.operation === undefined && !isUnknown && data.state !== 'completed') {
      seen.violate('no job is forgotten', `${id} is ${data.state} ${data.error?.code}, and has a job`)
    }
  }
}
