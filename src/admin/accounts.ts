import type { LedgerAccount, LedgerAudit, Page, PageRequest } from '../money/ledger/contract.ts'
import { formatMoney, parseMoney } from '../money/money.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { UsageRecord } from '../observe/usage/contract.ts'
import { findRecord, recordIdsOf } from '../observe/usage/record-ids.ts'
import type { AdminServices } from './services.ts'
import type { UsageScope } from './usage-scope.ts'
import { entryView, view, type AccountView, type EntryView } from './account-view.ts'
import type { Refund, TopUp } from './questions.ts'
import { accountShape, id, page as pageShape, payment as paymentShape, prefix, refund, time } from './questions.ts'
import { ofAny, requireId, requireMethod, requireScoped, requireValid } from './check.ts'
import { differences, type ComparisonQuestion, type Difference } from './ledger-comparison.ts'
import { creditUntil, type AskLedger } from '../money/lots/credits.ts'
import { allowance, allowed, amountIn, expiringCredits, type AllowanceRequest, type ExpiringCredit } from './credits.ts'
import { mapPage, allItems } from '../records/page.ts'
import { strict } from '../records/rules.ts'

/** Selects accounts and a page of them. */
export interface AccountQuestion extends PageRequest {
  /** Only accounts whose id begins with this text. */
  readonly prefix?: string
}

/** Selects the charges that `compact` replaces by their sum. */
export type Compaction = UsageScope & {
  /** Charges booked before this time. Milliseconds since the epoch. */
  readonly before: number
}

/** The result of a payment. */
export interface Credited {
  /** The balance afterwards. */
  readonly balance: string
  /** Whether the reference was already used for the same payment, so that nothing changed. */
  readonly repeated: boolean
}

const rules = {
  page: strict(pageShape),
  list: strict({ ...pageShape, prefix }),
  account: strict({ id, ...accountShape }),
  payment: strict({ account: id, ...paymentShape }),
  refund: strict({ account: id, ...refund }),
  compaction: strict({ ...ofAny, before: time }),
  allowance: strict({ account: id, ...allowance }),
}

/** The newest entries of an account among which a request is looked for. */
const mostEntries = 10_000

/** Accounts, payments and ledger entries. Methods throw a 400 without the option `billing`, and a 503 if the ledger fails. */
export class AccountAdmin {
  readonly #services: AdminServices
  readonly #ledger: AdminServices['ledger']

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
    this.#ledger = services.ledger
  }

  /** Opens an account, or changes the given fields of an existing one. */
  async open(account: {
    readonly id: string
    readonly name?: string
    readonly unlimited?: boolean
  }): Promise<AccountView> {
    requireValid(rules.account, account)
    const { id } = account
    const before = await this.#ledger.ask((ledger) => ledger.account(id))
    const opened = view(await this.#ledger.ask((ledger) => ledger.open(account)))
    await this.#services.note({ action: 'accounts.open', account: id, before: before && view(before), after: opened })
    return opened
  }

  /** The account with this id; undefined if there is none. */
  async find(id: string): Promise<AccountView | undefined> {
    requireId(id, 'id')
    const account = await this.#ledger.ask((ledger) => ledger.account(id))
    return account && view(account)
  }

  /** All accounts, or those whose id begins with a text, ordered by id. */
  async list(question: AccountQuestion = {}): Promise<Page<AccountView>> {
    requireValid(rules.list, question)
    const { prefix = '', ...page } = question
    const list = (asked: PageRequest) =>
      this.#ledger.page((ledger) => requireMethod(ledger, 'accounts', 'accounts').accounts(asked))
    if (prefix === '') return mapPage(await list(page), view)
    const { limit = 100, after } = page
    // The account whose id is the prefix itself comes before all others that begin with it.
    const itself = after === undefined ? await this.#ledger.page((ledger) => ledger.account(prefix)) : undefined
    const { items, next } = await list({ limit, after: after ?? prefix })
    const found = [...(itself === undefined ? [] : [itself]), ...items.filter(({ id }) => id.startsWith(prefix))]
    const isLast = next === undefined || items.some(({ id }) => !id.startsWith(prefix))
    const shown = found.slice(0, limit)
    const hasMore = shown.length < found.length || !isLast
    return { items: shown.map(view), ...(hasMore && { next: (shown.at(-1) as LedgerAccount).id }) }
  }

  /**
   * Adds a payment to an account, which is opened if it does not exist. A repeated payment with the same reference changes
   * nothing; the same reference with another amount or account throws a 409.
   */
  async topUp(payment: TopUp): Promise<Credited> {
    const micros = amountOf(payment)
    const least = parseMoney(this.#services.minimumTopUp)
    if (micros < least) throw invalid(`A top-up is at least ${formatMoney(least)}.`, 'amount')
    return this.#credit('accounts.topUp', payment, micros)
  }

  /**
   * Gives an account an amount in each period, from the current one on. What is left expires at the end of the period, and
   * charges use it up before what expires later or never. Replaces the allowance that the account has.
   */
  async allow(request: AllowanceRequest): Promise<ExpiringCredit[]> {
    requireValid(rules.allowance, request)
    const { account, reference } = request
    const after = await allowed(this.#asking(), request, this.#services.now())
    await this.#services.note({ action: 'accounts.allow', account, target: reference, after })
    return this.credits(account)
  }

  /** What is left of the credits of an account that expire, the soonest first. */
  async credits(account: string): Promise<ExpiringCredit[]> {
    requireId(account, 'account')
    return expiringCredits(this.#asking(), account, this.#services.now())
  }

  /** Adds to or subtracts from a balance, without a minimum: for corrections and refunds. */
  async adjust(payment: TopUp): Promise<Credited> {
    const micros = amountOf(payment)
    if (micros === 0n) throw invalid('An adjustment cannot be zero.', 'amount')
    return this.#credit('accounts.adjust', payment, micros)
  }

  /**
   * Gives a request's charge back, in whole or in part: once per request, and never more than it cost. A repeated refund
   * changes nothing; one of another amount throws a 409. Throws a 404 if the account has no such request in its usage, nor
   * among its newest 10,000 ledger entries.
   */
  async refund({ account, request, amount, reason }: Refund): Promise<Credited> {
    requireValid(rules.refund, { account, request, amount, reason })
    const find = async () => (await this.#recorded(request)) ?? this.#charged(account, request)
    const since = performance.now()
    let record = await find()
    if (record === undefined) {
      await this.#services.settlements.returnedByAll(since)
      record = await find()
    }
    if (record?.account !== account)
      throw new GatewayError('not_found', { param: 'request', message: 'No such request.' })
    const micros = amount === undefined ? record.cost : amountOf({ account, amount, reference: request })
    if (micros <= 0n || micros > record.cost) {
      throw invalid(`A refund of this request is more than 0 and at most ${formatMoney(record.cost)}.`, 'amount')
    }
    // Several ids may lead to one request, which is refunded once.
    const { id } = record
    return this.#credit('accounts.refund', { account, reference: `refund:${id}`, note: reason, refunds: id }, micros)
  }

  async #recorded(request: string): Promise<UsageRecord | undefined> {
    const { usage } = this.#services
    if (usage.store === undefined) return undefined
    return usage.ask((store) => findRecord(requireMethod(store, 'find', 'single records'), request))
  }

  /** A charge in the ledger: the usage of a request may be in the memory of another process. */
  async #charged(account: string, request: string): Promise<Pick<UsageRecord, 'id' | 'account' | 'cost'> | undefined> {
    const ids = recordIdsOf(request)
    const page = (asked: PageRequest) =>
      this.#ledger.page((ledger) => requireMethod(ledger, 'entries', 'ledger entries').entries(account, asked))
    let read = 0
    for await (const { kind, reference, amount } of allItems(page)) {
      if (kind === 'settle' && ids.includes(reference)) return { id: reference, account, cost: -amount }
      if (++read === mostEntries) return undefined
    }
    return undefined
  }

  /**
   * The requests of an account on which ledger and usage records do not agree. Choose a period that ended an hour ago or
   * more, because records are written after charges, and one for which both are kept. Keeps the charges of the period in
   * memory, some 200 bytes each. Requests count in the period in which they started.
   */
  differences(question: ComparisonQuestion): AsyncGenerator<Difference, void> {
    return differences(this.#services, question)
  }

  /** The ledger entries of an account, newest first: credits, settlements and releases. */
  async entries(account: string, page: PageRequest = {}): Promise<Page<EntryView>> {
    requireId(account, 'account')
    requireValid(rules.page, page)
    const entries = await this.#ledger.page((ledger) =>
      requireMethod(ledger, 'entries', 'entries').entries(account, page),
    )
    return mapPage(entries, entryView)
  }

  /**
   * Replaces the charges of an account, or with `all: true` of all accounts, that were booked before a time by one entry
   * each, of the kind `opening`, with their exact sum. Payments are kept, balances and audit do not change. In small
   * batches; returns how many entries were replaced. `before` is at least 31 days ago, so that no charge that may still be
   * repeated is forgotten. Throws a 400 if the ledger does not support it, as in Redis, which keeps a number of entries.
   */
  async compact(compaction: Compaction): Promise<number> {
    requireScoped(rules.compaction, compaction, 'charges')
    const { account, before } = compaction
    if (before > this.#services.now() - 31 * 86_400_000)
      throw invalid('"before" must be at least 31 days ago.', 'before')
    let replaced = 0
    const ids = account === undefined ? allItems((page) => this.list(page)) : [{ id: account }]
    for await (const { id } of ids) replaced += await this.#compact(id, before)
    await this.#services.note({ action: 'accounts.compact', ...(account && { account }), after: { before, replaced } })
    return replaced
  }

  #compact(account: string, before: number): Promise<number> {
    return this.#ledger.removeAll((ledger, most) =>
      requireMethod(ledger, 'compact', 'openings').compact(account, before, most),
    )
  }

  /** Recomputes all balances from the entries. `faults` is empty unless data is corrupt. */
  async audit(): Promise<LedgerAudit> {
    return this.#ledger.page((ledger) => ledger.audit())
  }

  async #credit(
    action: string,
    { account, reference, note, expiresAt, refunds }: Omit<TopUp, 'amount'> & { readonly refunds?: string },
    amount: bigint,
  ) {
    if (expiresAt !== undefined && (amount < 0n || expiresAt <= this.#services.now()))
      throw invalid('"expiresAt" must be in the future, and the amount above zero.', 'expiresAt')
    const counted = refunds !== undefined && this.#ledger.store?.caps !== undefined
    const credit = { account, amount, reference, ...(note !== undefined && { note }), ...(counted && { refunds }) }
    const { outcome, balance } =
      expiresAt === undefined
        ? await this.#ledger.ask((ledger) => ledger.credit(credit))
        : await creditUntil(this.#asking(), credit, expiresAt)
    if (outcome === 'conflict') {
      throw new GatewayError('conflict', {
        param: 'reference',
        message: 'This reference was already used for a different payment.',
      })
    }
    if (outcome !== 'already') {
      const sums = { amount: formatMoney(amount), balance: formatMoney(balance) }
      const payment = {
        ...sums,
        ...(note && { note }),
        ...(expiresAt && { expiresAt }),
      }
      await this.#services.note({ action, account, target: reference, after: payment })
    }
    return { balance: formatMoney(balance), repeated: outcome === 'already' }
  }

  #asking(): AskLedger {
    const { store } = this.#ledger
    if (store !== undefined && store.lots === undefined)
      throw invalid('The ledger does not support credits that expire.')
    return (question) => this.#ledger.ask((ledger) => question(ledger as Parameters<typeof question>[0]))
  }
}

function amountOf(payment: TopUp): bigint {
  requireValid(rules.payment, payment)
  return amountIn(payment.amount)
}
