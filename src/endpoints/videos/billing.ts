import type { Admission } from '../../admission/admission.ts'
import { chargeOf, linesOf, type Charged } from '../../admission/charge.ts'
import { holdDurably } from '../../admission/durable-hold.ts'
import { callCosts, vendorCostOf } from '../../admission/vendor-cost.ts'
import { requireChargedCall } from '../../admission/required-rates.ts'
import type { Hold, Ledger } from '../../money/ledger/contract.ts'
import type { Price } from '../../money/prices/price.ts'
import type { CallCosts } from '../../observe/contract.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { ErrorCode } from '../../errors.ts'
import type { Catalogue } from '../../models/catalogue.ts'
import type { Guard } from '../../records/guard.ts'
import type { Model } from '../../models/contract.ts'
import { usageOf } from '../../wire/usage.ts'
import { usageRecordOf } from '../../observe/usage/record.ts'
import type { VideoBilling } from '../../tasks/services.ts'
import { capsOfTask, countedCaps, settledCaps } from './caps.ts'
import { namedIn } from '../../tasks/owner.ts'
import type { StoredTask, VideoTask } from '../../tasks/task.ts'

export interface TaskBillingOptions {
  /** If absent, nothing is charged, but receipts are still delivered. */
  readonly ledger: Ledger | undefined
  readonly guard: Guard
  readonly admission: Admission
  readonly catalogue: Catalogue
  /** Milliseconds by which a hold outlasts the deadline of its task. */
  readonly slackMs: number
  readonly deliver: (receipt: Receipt, costs: CallCosts | undefined) => void
}

/** Charges videos through the ledger: holds at submission, settles a completed or charged task, releases any other. */
export class TaskBilling implements VideoBilling {
  readonly #options: TaskBillingOptions

  constructor(options: TaskBillingOptions) {
    this.#options = options
  }

  /** Returns the amount held, in micro-units. It is stored with the task because prices may change before its end. */
  async hold(task: StoredTask, leaseMs: number): Promise<Pick<VideoTask, 'held' | 'counted' | 'multiplier'>> {
    const { ledger, guard, admission } = this.#options
    const agreed = task.data.held === undefined ? undefined : BigInt(task.data.held)
    const amount = ledger === undefined ? 0n : (agreed ?? (await this.#price(task, task.data.request.duration)).cost)
    const caps = capsOfTask(admission.caps, task, await this.#modelIdOf(task))
    if (ledger === undefined || (amount === 0n && caps.length === 0)) return { held: '0' }
    admission.requireQueueRoom(true)
    const claims = caps.length > 0 && { caps: admission.caps.claims(caps) }
    const hold: Hold = { id: task.data.attempt, account: task.account, amount, leaseMs, ...claims }
    const verdict = await holdDurably(admission, guard, hold, caps)
    const multiplier = String(this.#multiplierOf(task))
    return { held: String(amount), multiplier, ...(verdict?.caps && { counted: countedCaps(verdict.caps) }) }
  }

  async keep(task: StoredTask): Promise<void> {
    const { ledger, guard, slackMs } = this.#options
    const { held = '0', counted, deadlineAt } = task.data
    if (ledger === undefined || (held === '0' && counted === undefined)) return
    const hold = { id: task.data.attempt, account: task.account }
    await guard.call(() => ledger.renew([hold], deadlineAt - task.createdAt + slackMs))
  }

  async end(task: StoredTask): Promise<void> {
    const { ledger, guard, admission, deliver } = this.#options
    const { state, charged: isCharged, request, held = '0', counted } = task.data
    const seconds = task.data.seconds ?? request.duration
    const made = state === 'completed' || isCharged === true
    const charged = made ? await this.#final(task, seconds, BigInt(held)) : ({ cost: 0n, basis: 'none' } as const)
    const { cost: amount, basis } = charged
    let overage = 0n
    if (ledger !== undefined && (held !== '0' || counted !== undefined)) {
      const id = task.data.attempt
      const settlement = {
        id,
        account: task.account,
        amount,
        ...settledCaps(admission.caps, task, id, await this.#modelIdOf(task)),
      }
      if (made) ({ overage } = await guard.call(() => ledger.settle(settlement)))
      if (made) admission.charged(task.account)
      else await guard.call(() => ledger.release(settlement))
    }
    const receipt = receiptOf(task, made ? seconds : 0)
    const lines = admission.options.usageOptions.lines === true && amount > 0n ? { lines: linesOf(charged) } : {}
    let costs: CallCosts | undefined
    const { watchesCosts } = admission.options.observer
    if (admission.records !== undefined || watchesCosts) {
      const model = await this.#modelOf(task).catch(() => undefined)
      const vendorCost = made ? model && vendorCostOf(receipt, model) : 0n
      if (watchesCosts && vendorCost !== undefined) costs = callCosts(amount, vendorCost, admission.options.currency)
      const charges = { cost: amount, overage, basis, vendorCost, ...lines }
      const record = usageRecordOf({ ...receipt, id: task.data.attempt }, charges)
      admission.records?.add({ record, userIsClaimed: task.data.userIsKnown !== true }, true)
    }
    const { currency } = admission.options.billing
    if (ledger === undefined || currency === undefined) return deliver(receipt, costs)
    deliver({ ...receipt, charge: chargeOf(charged, overage, currency) }, costs)
  }

  /** A video shorter than requested costs less; a longer one costs what was held. */
  async #final(task: StoredTask, seconds: number, held: bigint): Promise<Charged> {
    const agreed: Charged = { cost: held, basis: 'reported' }
    if (held === 0n) return agreed
    const charged = await this.#price(task, Math.min(seconds, task.data.request.duration)).catch(() => agreed)
    const isLess = seconds < task.data.request.duration && charged.cost < held
    return isLess || charged.cost === held ? charged : agreed
  }

  /** The model with the prices as of the submission. */
  #modelOf({ data: { request, group }, createdAt }: StoredTask): Promise<Model | undefined> {
    return this.#options.catalogue.lookUp(request.model, createdAt, group)
  }

  /** Caps count the model, by whichever name it was asked for. */
  async #modelIdOf(task: StoredTask): Promise<string> {
    const model = await this.#modelOf(task).catch(() => undefined)
    return model?.id ?? task.data.request.model
  }

  #multiplierOf({ data: { multiplier, group } }: StoredTask): bigint {
    return multiplier === undefined ? this.#options.admission.multiplierOf(group) : BigInt(multiplier)
  }

  /** The price as of the submission. */
  async #price(task: StoredTask, seconds: number): Promise<Charged> {
    const { request, provider, providerModel } = task.data
    const model = await this.#modelOf(task)
    const deployment = model?.deployments.find(
      (each) => each.provider.name === provider && each.model === providerModel,
    )
    const price: Price | undefined = model?.price ?? deployment?.price
    const multiplier = this.#multiplierOf(task)
    if (price === undefined || multiplier === 0n) return { cost: 0n, basis: 'reported' }
    requireChargedCall(model as Model, price, 'videos')
    const size = request.size === undefined ? {} : { size: request.size }
    const consumed = { units: { seconds, ...size } }
    return { cost: price.cost(consumed, multiplier), basis: 'reported', by: { price, consumed, multiplier } }
  }
}

function receiptOf(task: StoredTask, seconds: number): Receipt {
  const { state, request, provider, providerModel, error, finishedAt = task.createdAt } = task.data
  return {
    id: task.id,
    endpoint: 'videos',
    outcome: state === 'completed' ? 'completed' : error?.code === 'cancelled' ? 'cancelled' : 'failed',
    ...(state === 'failed' && { code: 'server_error' satisfies ErrorCode }),
    ...namedIn(task),
    model: request.model,
    ...(provider !== undefined && { provider }),
    ...(providerModel !== undefined && { providerModel }),
    attempts: 1,
    stream: false,
    usage: usageOf(0, 0),
    usageSource: 'reported',
    units: { seconds, ...(request.size !== undefined && { size: request.size }) },
    startedAt: task.createdAt,
    totalMs: finishedAt - task.createdAt,
  }
}
