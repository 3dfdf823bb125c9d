/** Whether vendors that say what a call costs say the same as the costs of the deployments. */
import type { Model } from '../models/contract.ts'
import type { Receipt } from '../money/receipt.ts'
import type { Observer } from '../observe/observe.ts'
import type { ConfigWarning } from '../records/warning.ts'
import { costAt } from './vendor-cost.ts'

/** What a comparison needs: single calls differ by rounding, and a few by what only the vendor knows. */
const leastCalls = 20
const leastDollars = 0.01

/** A larger difference, as a share of the cost of the deployment, is reported. */
const tolerance = 0.01

/** Clients choose the names of models at open deployments. */
const most = 1_000

/** In one dollar. */
const billionths = 1e9

/** The calls of one deployment since its last comparison. */
interface Window {
  calls: number
  /** In dollars: by the cost of the deployment, and by the vendor. */
  ours: number
  theirs: number
  /** The vendor's sum as a share of ours, as it was last reported. */
  reported: number
  warning: ConfigWarning | undefined
}

/** Reports a drift once for each deployment, and again when it has changed by as much as is reported at all. */
export class CostDrift {
  readonly #observer: Pick<Observer, 'failure'>
  readonly #dollarRate: number | undefined
  readonly #windows = new Map<string, Window>()

  /** `dollarRate`: units of the gateway's currency for one US dollar. Without it nothing can be compared. */
  constructor(observer: Pick<Observer, 'failure'>, dollarRate: number | undefined) {
    this.#observer = observer
    this.#dollarRate = dollarRate
  }

  /** The drifts of the last comparisons. */
  get warnings(): readonly ConfigWarning[] {
    return [...this.#windows.values()].flatMap(({ warning }) => warning ?? [])
  }

  /** `dollars`: what the vendor says that the call of the receipt costs the host. */
  add(receipt: Receipt, model: Pick<Model, 'id' | 'deployments'>, dollars: number): void {
    const { id, outcome, usageSource, cached, continued, delivered } = receipt
    const { provider = '', providerModel = model.id } = receipt
    // Only of whole answers both sides have seen the same.
    if (outcome !== 'completed' || usageSource !== 'reported' || !Number.isFinite(dollars) || dollars < 0) return
    if (cached !== undefined || continued !== undefined || delivered !== undefined) return
    if (this.#dollarRate === undefined) return
    const cost = costAt(model, provider, providerModel, receipt)
    const window = cost === undefined ? undefined : this.#windowOf(JSON.stringify([provider, providerModel]))
    if (cost === undefined || window === undefined) return
    window.calls++
    window.ours += Number(cost) / billionths / this.#dollarRate
    window.theirs += dollars
    if (window.calls < leastCalls || Math.max(window.ours, window.theirs) < leastDollars) return
    this.#compare(id, `${provider} (${providerModel})`, model.id, window)
    window.calls = window.ours = window.theirs = 0
  }

  #windowOf(key: string): Window | undefined {
    let window = this.#windows.get(key)
    if (window === undefined && this.#windows.size < most) {
      window = { calls: 0, ours: 0, theirs: 0, reported: 1, warning: undefined }
      this.#windows.set(key, window)
    }
    return window
  }

  #compare(id: string, vendor: string, model: string, window: Window): void {
    const { calls, ours, theirs } = window
    const share = ours === 0 ? Infinity : theirs / ours
    if (Math.abs(share - 1) <= tolerance) {
      window.reported = 1
      window.warning = undefined
      return
    }
    const size = share === Infinity ? '' : `, ${percent(Math.abs(share - 1))} ${share > 1 ? 'more' : 'less'}`
    const sums = `$${dollarText(theirs)} for ${calls} calls by its own account, and $${dollarText(ours)} by the cost of the deployment${size}`
    const message = `${vendor} has cost ${sums}. Correct the "cost" or the price table, and the price, which may be wrong too.`
    window.warning = { code: 'cost_drift', where: `models["${model}"].cost`, message }
    const isKnown = share === window.reported || Math.abs(share - window.reported) <= tolerance
    if (isKnown) return
    window.reported = share
    this.#observer.failure({ id, error: new Error(message) })
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function dollarText(dollars: number): string {
  return dollars.toFixed(6)
}
