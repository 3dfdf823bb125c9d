import { channel } from 'node:diagnostics_channel'
import type { LedgerCaps, Notice } from '../../money/caps/contract.ts'
import { within } from '../../http/deadline.ts'
import { nextTryMs, sendSigned, webhookTimeoutMs, type WebhookEndpoint } from '../../http/signed-webhook.ts'
import type { Observer } from '../../observe/observe.ts'
import type { Guard } from '../../records/guard.ts'
import { Rounds } from '../../records/rounds.ts'
import { alertOf, webhookBody, type Alert } from './alert.ts'

/** Webhooks for alerts. */
export interface AlertWebhookOptions {
  /** Returns the endpoint for an alert, for example by its account, or undefined to send none. */
  readonly endpoint: (alert: Alert) => Promise<WebhookEndpoint | undefined> | WebhookEndpoint | undefined
  /** Allows URLs in the private network. Only safe if customers cannot choose the URLs. Default false. */
  readonly allowPrivateNetwork?: boolean
}

export interface DeliveryOptions {
  readonly caps: LedgerCaps
  readonly guard: Guard
  /** Alerts are delivered again if it throws or rejects. */
  readonly hook: ((alert: Alert) => unknown) | undefined
  readonly webhooks: AlertWebhookOptions | undefined
  readonly observer: Observer
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds between two looks for alerts while calls are charged; see `Rounds`. */
  readonly everyMs: number
}

const alerts = channel('modelhatch:alert')

/** Alerts that are delivered at the same time. */
const batch = 20
/** Longer than a delivery, so that no other process delivers the same alert meanwhile. */
const leaseMs = 4 * webhookTimeoutMs

/**
 * Delivers the alerts that settlements have recorded in the ledger, at least once each: one that could not be delivered,
 * or whose process died, is delivered again later, by any process.
 */
export class AlertDelivery {
  readonly #options: DeliveryOptions
  readonly #rounds: Rounds
  #round: Promise<boolean> | undefined
  #closed = false

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#rounds = new Rounds({ everyMs: options.everyMs, round: () => this.#joinedRound() })
  }

  /**
   * Looks for alerts from now on, also for those of earlier processes. To be called after each settlement, which may have
   * recorded one. Does nothing if there is neither a hook, a webhook nor a subscriber.
   */
  start(): void {
    if (this.#hasListener()) this.#rounds.wake()
  }

  /** Delivers all alerts that are due. Never rejects. Resolves when this process delivers none any more. */
  async deliver(): Promise<void> {
    await this.#joinedRound()
  }

  /** Delivers what the last calls have recorded, and stops. */
  async close(): Promise<void> {
    this.#rounds.stop()
    await this.#round
    await this.deliver()
    this.#closed = true
  }

  #joinedRound(): Promise<boolean> {
    return (this.#round ??= this.#deliverAll().finally(() => {
      this.#round = undefined
    }))
  }

  /** Whether there were any. */
  async #deliverAll(): Promise<boolean> {
    const { caps, guard } = this.#options
    let hadWork = false
    // Another process may have somewhere to deliver them to.
    if (!this.#hasListener()) return hadWork
    try {
      while (!this.#closed) {
        const notices = await guard.call(() => caps.claimNotices(batch, leaseMs))
        await Promise.all(notices.map((notice) => this.#one(notice)))
        hadWork ||= notices.length > 0
        if (notices.length < batch) return hadWork
      }
    } catch {
      // The ledger is down: the alerts stay due.
    }
    return hadWork
  }

  #hasListener(): boolean {
    const { hook, webhooks } = this.#options
    return hook !== undefined || webhooks !== undefined || alerts.hasSubscribers
  }

  async #one(notice: Notice): Promise<void> {
    const { caps, guard, observer } = this.#options
    const { id, settlement, attempts } = notice
    try {
      await this.#send(alertOf(notice))
    } catch (error) {
      const retryMs = nextTryMs(attempts)
      if (retryMs === undefined) observer.failure({ id: settlement, error })
      await guard.call(() => caps.endNotice(id, retryMs))
      return
    }
    await guard.call(() => caps.endNotice(id))
  }

  async #send(alert: Alert): Promise<void> {
    const { hook, webhooks, now } = this.#options
    if (alerts.hasSubscribers) alerts.publish(alert)
    const told = async () => hook?.(alert)
    const [hooked, pushed] = await Promise.allSettled([
      within(webhookTimeoutMs, told(), 'hooks.alert()'),
      webhooks === undefined ? undefined : push(webhooks, alert, now()),
    ])
    if (hooked.status === 'rejected') throw hooked.reason
    if (pushed.status === 'rejected') throw pushed.reason
  }
}

async function push(options: AlertWebhookOptions, alert: Alert, now: number): Promise<void> {
  const asked = async () => options.endpoint(alert)
  const endpoint = await within(webhookTimeoutMs, asked(), 'alerts.webhooks.endpoint()')
  if (endpoint === undefined) return
  const timestamp = Math.floor(now / 1000)
  const allowPrivateNetwork = options.allowPrivateNetwork === true
  const body = webhookBody(alert)
  await sendSigned({ endpoint, id: alert.id, timestamp, body, allowPrivateNetwork, timeoutMs: webhookTimeoutMs })
}
