import { alertOf, type Alert } from '../admission/alerts/alert.ts'
import { invalid } from '../errors.ts'
import type { Guard } from '../records/guard.ts'
import type { Page, PageRequest } from '../records/page.ts'
import { requireMethod, requireValid, rules } from './check.ts'
import { mapPage } from '../records/page.ts'
import type { AdminServices } from './services.ts'
import type { UsageScope } from './usage-scope.ts'

/** Selects alerts and a page of them. */
export type AlertListQuestion = UsageScope & PageRequest

/** Alerts of caps and balances. Methods throw a 400 without the option `billing`, and a 503 if the ledger fails. */
export class AlertAdmin {
  readonly #ledger: AdminServices['ledger']
  readonly #guard: Guard

  /** @internal */
  constructor({ ledger, pageGuard }: AdminServices) {
    this.#ledger = ledger
    this.#guard = pageGuard('the ledger')
  }

  /**
   * The alerts that calls of `account` have caused, or with `all: true` those of all accounts, newest first, also those that were
   * not delivered. They are kept for 35 days. Alerts of caps that all callers share (`per: 'all'`) are among them: leave these
   * out before you show them to a customer.
   */
  async list(question: AlertListQuestion): Promise<Page<Alert>> {
    requireValid(rules.alertList, question)
    const { account, all, ...page } = question
    if (account === undefined && !all) {
      throw invalid('"account" is missing. Set "all: true" for the alerts of all accounts.', 'account')
    }
    const caps = this.#ledger?.caps
    if (caps === undefined) throw invalid('Alerts need the option "billing" and a ledger with caps.')
    const store = requireMethod(caps, 'listNotices', 'alerts')
    const asked = { ...page, ...(account !== undefined && { account }) }
    return mapPage(await this.#guard.call(() => store.listNotices(asked)), alertOf)
  }
}
