import type { ScopedCap } from '../records/cap.ts'
import type { CapMeasure, CapOverride, CapState, LedgerCaps } from '../money/caps/contract.ts'
import { capMeasures } from '../money/caps/period.ts'
import type { CallerCap, CappedCaller } from '../admission/caps.ts'
import { formatMoney, parseMoney } from '../money/money.ts'
import { GatewayError, invalid } from '../errors.ts'
import { strict } from '../records/rules.ts'
import { requireValid } from './check.ts'
import {
  capOverride,
  capSubject,
  id,
  text,
  type CapAmountsView,
  type CapLimitsChange,
  type CapOverrideRequest,
  type CapSubject,
} from './questions.ts'
import { requireGroup } from './current-groups.ts'
import { keyOf } from './key-changes.ts'
import type { AdminServices } from './services.ts'

/** A cap of a caller, and what is used of it in the current period. */
export interface CapView {
  /** The name of the cap. */
  readonly cap: string
  /** Whose use it counts. */
  readonly per: NonNullable<ScopedCap['per']>
  /** The tag, if it counts per tag. */
  readonly tag?: string
  /** The start of the current period, of a rolling window that of the grain. Milliseconds since the epoch. */
  readonly start: number
  /** When the use that counts now begins to count no longer. Milliseconds since the epoch. */
  readonly resetsAt: number
  /** The limits in force. A measure that is absent is not limited. */
  readonly limits: CapAmountsView
  /** What calls that have ended used. */
  readonly used: Required<CapAmountsView>
  /** What open calls hold in addition, and those for which processes have drawn in advance. */
  readonly held: Required<CapAmountsView>
  /** The overrides that apply now: at most one that lasts, and one with an end. */
  readonly overrides: readonly (CapLimitsChange & {
    /** When the override ends. Milliseconds since the epoch. Absent: it lasts. */
    readonly until?: number
  })[]
}

const rules = {
  subject: strict({ account: id, ...capSubject }),
  override: strict({ account: id, cap: text, ...capOverride }),
  clearing: strict({ account: id, cap: text, ...capSubject }),
}

/** Caps of keys, accounts, groups and users. Methods throw a 400 without the option `billing`, and a 503 if the ledger fails. */
export class CapAdmin {
  readonly #services: AdminServices

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
  }

  /** The caps that apply to a subject: first those of its key, then of its group, then of all callers. */
  async list(subject: CapSubject): Promise<CapView[]> {
    requireValid(rules.subject, subject)
    return this.#view(await this.#of(subject))
  }

  /**
   * Replaces limits of a cap for one account, key or user (`per` of the cap), for a time or for good. Applies to every call
   * that begins afterwards, in all processes, whatever the period of the cap; for twice `billing.journalMs`, a process may admit
   * calls by what it has held before. Throws a 404 if the subject has no such cap.
   */
  async override(request: CapOverrideRequest): Promise<CapView> {
    requireValid(rules.override, request)
    const { until, limits } = request
    if (until !== undefined && until <= this.#services.now()) throw invalid('"until" must be in the future', 'until')
    const cap = await this.#one(request)
    const { name, rule } = cap
    for (const measure of capMeasures) {
      if (limits[measure] === undefined || rule.measures.includes(measure)) continue
      throw invalid(`The cap "${cap.cap.name}" does not count ${measure}: add it to the cap.`, `limits.${measure}`)
    }
    const override = {
      name,
      limits: converted(limits, stored),
      ...(until !== undefined && { until }),
    }
    return this.#changed('caps.override', request.account, cap, (caps) => caps.override(override))
  }

  /** Removes the overrides of a cap, so that its own limits apply again. Throws a 404 if the subject has no such cap. */
  async clear(request: CapSubject & Pick<CapOverrideRequest, 'cap'>): Promise<CapView> {
    requireValid(rules.clearing, request)
    const cap = await this.#one(request)
    return this.#changed('caps.clear', request.account, cap, async (caps) => {
      await caps.override({ name: cap.name, limits: {} })
      await caps.override({ name: cap.name, limits: {}, until: Number.MAX_SAFE_INTEGER })
    })
  }

  async #changed(
    action: string,
    account: string,
    cap: CallerCap,
    change: (caps: LedgerCaps) => Promise<void> | void,
  ): Promise<CapView> {
    const read = async () => (await this.#view([cap]))[0] as CapView
    const before = await read()
    await this.#ask(change)
    const after = await read()
    const limitsOf = ({ limits, overrides }: CapView) => ({ limits, overrides })
    await this.#services.note({ action, account, target: cap.name, before: limitsOf(before), after: limitsOf(after) })
    return after
  }

  async #one(request: CapSubject & Pick<CapOverrideRequest, 'cap'>): Promise<CallerCap> {
    const found = (await this.#of(request)).find(({ cap }) => cap.name === request.cap)
    if (found !== undefined) return found
    throw new GatewayError('not_found', { param: 'cap', message: 'No such cap applies to these calls.' })
  }

  async #of({ account, key, group, user, tag, model }: CapSubject): Promise<readonly CallerCap[]> {
    if (this.#services.ledger.store?.caps === undefined)
      throw invalid('Caps need the option "billing" and a ledger with caps.')
    await requireGroup(this.#services, group)
    const record = key === undefined ? undefined : await keyOf(this.#services, account, key, 'key')
    const tags = tag === undefined ? record?.tags : [tag]
    const caller: CappedCaller = {
      account,
      group: group ?? record?.group ?? '',
      ...(record !== undefined && { key: record.continues ?? record.id }),
      ...(record?.caps !== undefined && { caps: record.caps }),
      ...((user ?? record?.user) !== undefined && { user: (user ?? record?.user) as string }),
      ...(tags !== undefined && { tags }),
    }
    return this.#services.caps.of(caller, model)
  }

  async #view(caps: readonly CallerCap[]): Promise<CapView[]> {
    if (caps.length === 0) return []
    const states = await this.#ask((ledger) => ledger.read(this.#services.caps.claims(caps)))
    return Promise.all(
      states.map(async (state, index) => {
        const overrides = await this.#ask((ledger) => ledger.overrides(state.name))
        return view(caps[index] as CallerCap, state, overrides)
      }),
    )
  }

  #ask<T>(question: (caps: LedgerCaps) => Promise<T> | T): Promise<T> {
    return this.#services.ledger.ask(({ caps }) => question(caps as LedgerCaps))
  }
}

function view({ cap, per, tag }: CallerCap, state: CapState, overrides: readonly CapOverride[]): CapView {
  const { start, resetsAt, limits, settled, held } = state
  return {
    cap: cap.name,
    per,
    ...(tag !== undefined && { tag }),
    start,
    resetsAt,
    limits: converted(limits, shown),
    used: converted(settled, shown),
    held: converted(held, shown),
    overrides: overrides.map(({ limits: replaced, until }) => ({
      ...converted(replaced, shown),
      ...(until !== undefined && { until }),
    })),
  }
}

const shown = { money: formatMoney, tokens: Number, calls: Number }
const stored = { money: parseMoney, tokens: BigInt, calls: BigInt }

/** The amounts that are given, in another form. Null stays. */
function converted<To extends Readonly<Record<CapMeasure, (amount: never) => unknown>>>(
  amounts: Readonly<Partial<Record<CapMeasure, unknown>>>,
  to: To,
): { [Measure in CapMeasure]: ReturnType<To[Measure]> } {
  const given = capMeasures.filter((measure) => amounts[measure] !== undefined)
  return Object.fromEntries(
    given.map((measure) => [measure, amounts[measure] === null ? null : to[measure](amounts[measure] as never)]),
  ) as { [Measure in CapMeasure]: ReturnType<To[Measure]> }
}
