import { alertOf, type Alert } from '../admission/alerts/alert.ts'
import { invalid } from '../errors.ts'
import type { Page, PageRequest } from '../records/page.ts'
import { strict } from '../records/rules.ts'
import { readable } from '../records/unreadable.ts'
import { ofAny, requireMethod, requireScoped } from './check.ts'
import { page as pageShape } from './questions.ts'
import type { AdminServices } from './services.ts'
import type { UsageScope } from './usage-scope.ts'

/** Selects alerts and a page of them. */
export type AlertListQuestion = UsageScope & PageRequest

const listRule = strict({ ...ofAny, ...pageShape })

/** Alerts of caps and balances. Methods throw a 400 without the option `billing`, and a 503 if the ledger fails. */
export class AlertAdmin {
  readonly #ledger: AdminServices['ledger']
  readonly #failed: AdminServices['failed']

  /** @internal */
  constructor({ ledger, failed }: AdminServices) {
    this.#ledger = ledger
    this.#failed = failed
  }

  /**
   * The alerts that calls of `account` have caused, or with `all: true` those of all accounts, newest first, also those that were
   * not delivered. They are kept for 35 days. Alerts of caps that all callers share (`per: 'all'`) are among them: leave these
   * out before you show them to a customer.
   */
  async list(question: AlertListQuestion): Promise<Page<Alert>> {
    requireScoped(listRule, question, 'alerts')
    const { account, all: _, ...page } = question
    const asked = { ...page, ...(account !== undefined && { account }) }
    const found = await this.#ledger.page(({ caps }) => {
      if (caps === undefined) throw invalid('Alerts need a ledger with caps.')
      return requireMethod(caps, 'listNotices', 'alerts').listNotices(asked)
    })
    return { ...found, items: readable(found.items, alertOf, this.#failed) }
  }
}
