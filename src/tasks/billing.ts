import type { Admission } from '../admission/admission.ts'
import { requireChargedCall } from '../admission/demand.ts'
import type { Ledger } from '../billing/contract.ts'
import { formatMoney } from '../billing/money.ts'
import type { Price } from '../billing/price.ts'
import type { Receipt } from '../billing/receipt.ts'
import { GatewayError, type ErrorCode } from '../errors.ts'
import type { Catalogue } from '../models/access.ts'
import type { Guard } from '../store-access/guard.ts'
import type { Model } from '../models/contract.ts'
import { usageOf } from '../wire/usage.ts'
import { recordOf } from '../usage/record.ts'
import type { VideoBilling } from './parts.ts'
import type { StoredTask } from './task.ts'

export interface TaskBillingOptions {
  /** If absent, nothing is charged, but receipts are still delivered. */
  readonly ledger: Ledger | undefined
  readonly guard: Guard
  readonly admission: Admission
  readonly catalogue: Catalogue
  /** Milliseconds by which a hold outlasts the deadline of its task. */
  readonly slackMs: number
  readonly deliver: (receipt: Receipt) => void
}

/** Charges videos through the ledger: holds at submission, settles a completed task, releases a failed one. */
export class TaskBilling implements VideoBilling {
  readonly #options: TaskBillingOptions

  constructor(options: TaskBillingOptions) {
    this.#options = options
  }

  /** Returns the amount held, in micro-units. It is stored with the task because prices may change before its end. */
  async hold(task: StoredTask, leaseMs: number): Promise<string> {
    const { ledger, guard, admission } = this.#options
    const agreed = task.data.held === undefined ? undefined : BigInt(task.data.held)
    const amount = ledger === undefined ? 0n : (agreed ?? (await this.#price(task, task.data.request.duration)))
    if (ledger === undefined || amount === 0n) return '0'
    if (admission.isOverflowing(true)) throw new GatewayError('service_unavailable', { retryAfterMs: 1_000 })
    const hold = { id: holdId(task), account: task.account, amount, leaseMs, durable: true }
    const { outcome } = await guard.call(() => ledger.hold(hold))
    if (outcome === 'insufficient') throw new GatewayError('insufficient_quota')
    return String(amount)
  }

  async keep(task: StoredTask): Promise<void> {
    const { ledger, guard, slackMs } = this.#options
    const { held = '0', deadlineAt } = task.data
    if (ledger === undefined || held === '0') return
    const hold = { id: holdId(task), account: task.account }
    await guard.call(() => ledger.renew([hold], deadlineAt - task.createdAt + slackMs))
  }

  async end(task: StoredTask): Promise<void> {
    const { ledger, guard, admission, deliver } = this.#options
    const { state, request, held = '0' } = task.data
    const seconds = task.data.seconds ?? request.duration
    const made = state === 'completed'
    const amount = made ? await this.#final(task, seconds, BigInt(held)) : 0n
    let overage = 0n
    if (ledger !== undefined && held !== '0') {
      const settlement = { id: holdId(task), account: task.account, amount }
      if (made) ({ overage } = await guard.call(() => ledger.settle(settlement)))
      else await guard.call(() => ledger.release(settlement))
    }
    const basis = made ? ('reported' as const) : ('none' as const)
    const receipt = receiptOf(task, made ? seconds : 0)
    admission.records?.add(recordOf({ ...receipt, id: holdId(task) }, { cost: amount, overage, basis }))
    const { currency } = admission.options.billing
    if (ledger === undefined || currency === undefined) return deliver(receipt)
    deliver({ ...receipt, charge: { cost: formatMoney(amount), overage: formatMoney(overage), currency, basis } })
  }

  /** A video shorter than requested costs less; a longer one costs what was held. */
  async #final(task: StoredTask, seconds: number, held: bigint): Promise<bigint> {
    if (held === 0n || seconds >= task.data.request.duration) return held
    const cost = await this.#price(task, seconds).catch(() => held)
    return cost < held ? cost : held
  }

  async #price(task: StoredTask, seconds: number): Promise<bigint> {
    const { admission, catalogue } = this.#options
    const { request, provider, providerModel, group } = task.data
    const model = await catalogue.lookUp(request.model)
    const deployment = model?.deployments.find(
      (each) => each.provider.name === provider && each.model === providerModel,
    )
    const price: Price | undefined = model?.price ?? deployment?.price
    const multiplier = admission.multiplierOf(group)
    if (price === undefined || multiplier === 0n) return 0n
    requireChargedCall(model as Model, price, 'videos')
    const size = request.size === undefined ? {} : { size: request.size }
    return price.bound(0, 0, { seconds, ...size }, multiplier)
  }
}

/** Includes the submission's `attempt`: an id that is used again after its 24 hours is charged again. */
function holdId(task: StoredTask): string {
  return `${task.id}.${task.data.attempt}`
}

function receiptOf(task: StoredTask, seconds: number): Receipt {
  const { state, request, group, key, provider, providerModel, error, finishedAt = task.createdAt } = task.data
  return {
    id: task.id,
    endpoint: 'videos',
    outcome: state === 'completed' ? 'completed' : error?.code === 'cancelled' ? 'cancelled' : 'failed',
    ...(state === 'failed' && { code: 'server_error' satisfies ErrorCode }),
    account: task.account,
    group,
    ...(key !== undefined && { key }),
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
