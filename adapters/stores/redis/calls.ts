/** Admits and ends calls in batches; in steps, if the keys of one call are on several nodes. */
import { Batches } from '../batches.ts'
import type { AdmissionItem, AdmissionResult } from '../batched-admission.ts'
import {
  Sweep,
  type AdmissionEnd,
  type HoldVerdict,
  type LimitReturn,
  type SettleVerdict,
  type SliceEnds,
} from '../index.ts'
import { addAdmission, admittedOf, admitText, type AdmissionPart, type AdmittedPart, type Held } from './admit.ts'
import { Arguments, callOf } from './call-arguments.ts'
import { capChargeOf, capHoldOf } from './cap-arguments.ts'
import { addEnding, endedOf, finishText, type Ended, type EndingPart, type HoldEnd } from './finish.ts'
import type { KeyBases } from './key-bases.ts'
import { objectIn } from '../unreadable.ts'
import { lua, type Scripts } from './scripts.ts'
import { admissionSteps, endingSteps, joined, undoOf, type Step } from './call-steps.ts'

/** Maximum numbers of batches in progress at the same time, on one node or for one hash tag. No end of a call overtakes its draw. */
const lanes = { admissions: 2, endings: 1 }

/** Calls of a script from which on it draws no slices: these cost more than they save where so many calls share a script. */
const fullScript = 8

/** Milliseconds after which another process may count a settlement, because the one that booked it has probably died. */
const lateMs = 5_000
/** Maximum number of settlements of a base to take at once. */
const mostUncounted = 20

/** Settlements that are booked on the node of their account, and not yet counted on the node of the caps: each as what was left of the account before and after, and the charge, separated by spaces. */
const findUncounted = lua(
  `return redis.call('ZRANGEBYSCORE', key('due'), '-inf', real(now - ${lateMs}), 'LIMIT', 0, ${mostUncounted})`,
)

const forgetUncounted = lua(`redis.call('ZREM', key('due'), ARGV[2])`)

interface Route {
  readonly admissions: Batches<AdmissionPart, string>
  readonly endings: Batches<EndingPart, string>
}

export class Calls {
  readonly #scripts: Scripts
  readonly #bases: KeyBases
  readonly #kept: number
  /** By the base of their keys; under `''` the one of a server that has all keys. */
  readonly #routes = new Map<string, Route>()
  readonly #sweep = new Sweep(() => this.#countOthers())

  /** `kept`: number of ledger entries to keep for each account. */
  constructor(scripts: Scripts, keyBases: KeyBases, kept: number) {
    this.#scripts = scripts
    this.#bases = keyBases
    this.#kept = kept
  }

  /** Takes the claim and the hold of a call: both, or neither. */
  async admit({ claim, hold, slice }: AdmissionItem): Promise<AdmissionResult> {
    const caps = capHoldOf(hold)
    const call = { claim, hold, caps, slice: hold?.durable === true ? undefined : slice }
    return resultOf(
      call,
      await this.#scripts.anywhere((spread) => (spread ? this.#admitInSteps(call) : this.#admitAt('', call))),
    )
  }

  /** Returns the claim of a call, and settles or releases its hold. */
  end({ returned, end }: AdmissionEnd): Promise<SettleVerdict | undefined> {
    return this.#scripts.anywhere(async (spread) => {
      if (spread) return this.#endInSteps(returned, end)
      return endedOf(await this.#route('').endings.add({ returned, end })).verdict
    })
  }

  /** Tells what became of slices: before the ends of calls that are added later. */
  async endSlices({ draws, returns }: SliceEnds): Promise<void> {
    const drawn = draws.map(({ slice: id, hold, claim }) => ({
      returned: { id, places: claim.places.map(({ bucket }) => bucket), corrections: [] },
      slice: { account: hold.account, hold, claim },
    }))
    const given = returns.map(({ account, ...returned }) => ({ returned, slice: { account } }))
    await this.#scripts.anywhere((spread) =>
      Promise.all(
        [...drawn, ...given].map(async (part) => {
          const base = spread ? this.#bases.baseOf(part.slice.account) : ''
          // Of limits on other nodes, no slice was drawn.
          if (spread && part.returned.places.some((bucket) => this.#bases.baseOfBucket(bucket) !== base)) return
          endedOf(await this.#route(base).endings.add(part))
        }),
      ),
    )
  }

  /** Stops counting settlements that other processes have left. */
  close(): Promise<void> {
    return this.#sweep.close()
  }

  async #admitAt(base: string, admission: AdmissionPart): Promise<AdmittedPart> {
    for (;;) {
      const admitted = admittedOf(await this.#route(base).admissions.add(admission), admission)
      if (admitted.hold?.outcome !== 'again') return admitted
    }
  }

  async #admitInSteps(call: AdmissionPart): Promise<AdmittedPart> {
    const { claim, hold } = call
    const steps: Step[] = []
    let rejected = false
    try {
      for (const [base, part] of admissionSteps(this.#bases, call)) {
        const known = steps[0]?.admitted.hold?.isNew === false
        const caps = known && part.caps !== undefined ? capHoldOf(hold, true) : part.caps
        const admitted = await this.#admitAt(base, { ...part, caps, looks: rejected })
        const drew: boolean = !rejected && admitted.admitted && (admitted.hold?.outcome ?? 'held') === 'held'
        steps.push({ base, part, admitted, drew })
        rejected ||= !drew
      }
    } catch (error) {
      await this.#undo(steps)
      throw error
    }
    if (rejected) await this.#undo(steps)
    else if (hold !== undefined && steps[0]?.admitted.hold?.opens === true) {
      await this.#endInSteps(undefined, { id: hold.id, account: hold.account, opens: true })
    }
    return joined(claim, steps)
  }

  async #endInSteps(returned?: LimitReturn, end?: HoldEnd): Promise<SettleVerdict | undefined> {
    const steps = endingSteps(this.#bases, returned, end)
    const ended = steps.map(async ([base, ending]) => {
      const result = endedOf(await this.#route(base).endings.add(ending))
      if (ending.end !== undefined) await this.#count(base, ending.end, result)
      return result.verdict
    })
    const failed = (await Promise.allSettled(ended)).find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return (await Promise.all(ended)).find((verdict) => verdict !== undefined)
  }

  /** Counts the end of a hold for its caps, which are on another node. */
  async #count(base: string, end: HoldEnd, { verdict, left, counted }: Ended): Promise<void> {
    const charge = verdict?.outcome === 'settled' && end.amount !== undefined ? capChargeOf(end) : ''
    if (charge === '' && !counted) return
    await this.#route(this.#bases.shared).endings.add({ counts: { call: callOf(end.account, end.id), charge, left } })
    if (charge === '') return
    await this.#scripts.run(forgetUncounted, base, [...left, charge].join(' '))
    this.#sweep.use()
  }

  /** Counts settlements that a process has booked and not counted. Returns whether there may be more. */
  async #countOthers(): Promise<boolean> {
    let more = false
    for (const base of this.#bases.all) {
      const due = await this.#scripts.run<string[]>(findUncounted, base)
      more ||= due.length === mostUncounted
      for (const text of due) {
        const [, before = '', after = '', charge = ''] = /^(\S*) (\S*) (.*)$/s.exec(text) ?? []
        const call = objectIn(charge)?.['call'] as string | undefined
        // It stays, and keeps no other from being counted.
        if (call === undefined) continue
        await this.#route(this.#bases.shared).endings.add({ counts: { call, charge, left: [before, after] } })
        await this.#scripts.run(forgetUncounted, base, text)
      }
    }
    return more
  }

  /** If this fails, the lease ends what the steps hold. */
  async #undo(steps: readonly Step[]): Promise<void> {
    const drawn = steps.filter(({ drew }) => drew)
    await Promise.allSettled(drawn.map(async (step) => this.#route(step.base).endings.add(undoOf(step))))
  }

  #route(base: string): Route {
    let route = this.#routes.get(base)
    if (route === undefined) {
      route = {
        admissions: new Batches<AdmissionPart, string>({
          perform: (calls) => {
            const own = calls.length < fullScript ? calls : calls.map((call) => ({ ...call, slice: undefined }))
            return this.#perform(admitText, base, own, addAdmission)
          },
          ids: ({ claim, hold }) => [...(claim ? [`claim ${claim.id}`] : []), ...(hold ? [`hold ${hold.id}`] : [])],
          isUndone: () => false,
          lanes: lanes.admissions,
        }),
        endings: new Batches<EndingPart, string>({
          perform: (calls) => this.#perform(finishText, base, calls, addEnding),
          ids: () => [],
          isUndone: () => false,
          lanes: lanes.endings,
        }),
      }
      this.#routes.set(base, route)
    }
    return route
  }

  #perform<Call>(
    script: string,
    route: string,
    calls: readonly Call[],
    add: (to: Arguments, call: Call) => void,
  ): Promise<string[]> {
    const { shared } = this.#bases
    const args = new Arguments(this.#bases)
    for (const call of calls) add(args, call)
    const caps = route === '' || route === shared ? shared : ''
    if (caps !== '') args.bases.add(caps)
    return this.#scripts.runOn(script, [...args.bases], [this.#kept, caps, ...args.values])
  }
}

function resultOf({ claim }: AdmissionPart, { admitted, left, free, hold, ahead }: AdmittedPart): AdmissionResult {
  const limits = claim && { admitted, left, free }
  return { ...(limits && { limits }), ...(hold && { hold: verdictOf(hold) }), ...(ahead > 0 && { ahead }) }
}

function verdictOf({ outcome, balance, caps }: Held): HoldVerdict {
  return { outcome: outcome as HoldVerdict['outcome'], balance, ...(caps && { caps }) }
}
