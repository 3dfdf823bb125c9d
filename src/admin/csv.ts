import { keyFields, keyFieldsWith } from '../callers/key-fields.ts'
import { usageFields, usageFieldsWith } from '../observe/usage/fields.ts'
import { usageUnits } from '../observe/usage/units.ts'
import type { AttemptRecord } from '../money/attempt-log.ts'
import type { Page, PageRequest } from '../records/page.ts'
import type { AuditAdmin, AuditQuestion, AuditView } from './audit/audit-admin.ts'
import type { AccountView, EntryView } from './account-view.ts'
import type { AccountAdmin } from './accounts.ts'
import type { KeyAdmin, KeySearch, KeyView } from './keys.ts'
import type { InvoiceItem } from './invoice.ts'
import type {
  InvoiceQuestion,
  StatisticsRow,
  UsageAdmin,
  UsageListQuestion,
  UsageSumsQuestion,
  UsageView,
} from './usage.ts'

/** A list question without its page, because a CSV file has all pages. */
type Whole<Question> = Question extends unknown ? Omit<Question, 'limit' | 'after'> : never

/**
 * The lists of `gateway.admin` as CSV (RFC 4180), a header line first, in pieces that are read from the stores as they are
 * needed: `Readable.from(gateway.admin.csv.usage({ account })).pipe(response)`. Times are in ISO 8601, amounts decimal
 * numbers. What a spreadsheet would take for a formula in a text begins with an apostrophe.
 */
export class CsvAdmin {
  readonly #accounts: AccountAdmin
  readonly #keys: KeyAdmin
  readonly #usage: UsageAdmin
  readonly #auditLog: AuditAdmin

  /** @internal */
  constructor(accounts: AccountAdmin, keys: KeyAdmin, usage: UsageAdmin, auditLog: AuditAdmin) {
    this.#auditLog = auditLog
    this.#accounts = accounts
    this.#keys = keys
    this.#usage = usage
  }

  /** All accounts, ordered by id. */
  accounts(): AsyncGenerator<string, void> {
    return csvOf(accountColumns, (page) => this.#accounts.list(page))
  }

  /** The ledger entries of an account, newest first. */
  entries(account: string): AsyncGenerator<string, void> {
    return csvOf(entryColumns, (page) => this.#accounts.entries(account, page))
  }

  /** The keys of all accounts that a question selects, newest first. */
  keys(question: Whole<KeySearch> = {}): AsyncGenerator<string, void> {
    return csvOf(keyColumns, (page) => this.#keys.search({ ...question, ...page }))
  }

  /** The changes that a question selects, newest first. */
  auditLog(question: Whole<AuditQuestion> = {}): AsyncGenerator<string, void> {
    return csvOf(auditColumns, (page) => this.#auditLog.list({ ...question, ...page }))
  }

  /** The requests that a question selects, newest first. `without`: columns to leave out. Default: what it does not ask for. */
  usage(question: Whole<UsageListQuestion>, without: readonly (keyof UsageView)[] = []): AsyncGenerator<string, void> {
    const left = new Set<string>(question.costs === true ? without : [...without, 'vendorCost', 'margin'])
    const columns = usageColumns.filter((column) => !left.has(typeof column === 'string' ? column : column[0]))
    return csvOf(columns, (page) => this.#usage.list({ ...question, ...page }))
  }

  /** The lines of an invoice, one a row. What lines do not say is in rows with the item `rest`. */
  invoice(question: InvoiceQuestion): AsyncGenerator<string, void> {
    return csvOf(invoiceColumns, async () => ({ items: (await this.#usage.invoice(question)).flatMap(rowsOf) }))
  }

  /** The sums that a question asks for, in the order of its dimensions. */
  statistics(question: UsageSumsQuestion): AsyncGenerator<string, void> {
    const columns = [...question.by, ...sumColumns, ...(question.costs === true ? costColumns : [])]
    let rows: readonly StatisticsRow[] | undefined
    return csvOf(columns, async ({ limit = 1_000, after = '0' }) => {
      rows ??= await this.#usage.statistics(question)
      const end = Number(after) + limit
      return { items: rows.slice(Number(after), end), ...(end < rows.length && { next: String(end) }) }
    })
  }
}

/** A column: the name of a field, or its title and how to read it. */
export type Column<T> = (keyof T & string) | readonly [title: string, read: (item: T) => Cell]

/** A cell of a CSV file. Numbers are written as they are. */
export type Cell = string | number | boolean | undefined | readonly string[] | { readonly amount: string }

const pageSize = 1_000

/** One piece of text for each page, the first with the header line. An invalid question is found before the first piece. */
export async function* csvOf<T>(
  columns: readonly Column<T>[],
  pageAt: (page: PageRequest) => Promise<Page<T>>,
): AsyncGenerator<string, void> {
  const read = (item: T) =>
    columns.map((column) => (typeof column === 'string' ? (item[column] as Cell) : column[1](item)))
  let head = lineOf(columns.map((column) => (typeof column === 'string' ? column : column[0])))
  let after: string | undefined
  do {
    const { items, next }: Page<T> = await pageAt({ limit: pageSize, ...(after !== undefined && { after }) })
    yield head + items.map((item) => lineOf(read(item))).join('')
    head = ''
    after = next
  } while (after !== undefined)
}

function lineOf(cells: readonly Cell[]): string {
  return `${cells.map(csvText).join(',')}\r\n`
}

/**
 * What a spreadsheet would take for the beginning of a formula: also after a semicolon, a tab or a line break, at which it may
 * split a line, and in the full-width forms that it converts in some languages.
 */
const formula = /^(?=[;\t\r\n])|(?<=^|[;\t\r\n])(?=[\s"']*[=+\-@﹢﹣﹦﹫＋－＝＠])/g

function csvText(cell: Cell): string {
  if (cell === undefined) return ''
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  if (typeof cell === 'object' && 'amount' in cell) return cell.amount
  const text = typeof cell === 'string' ? cell : cell.join(' ')
  const harmless = text.replace(formula, "'")
  return /[",\r\n]|^\s|\s$/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** A column with a decimal string, which may be negative. */
export function money<Name extends string>(name: Name): Column<Readonly<Record<Name, string>>> {
  return [name, (item) => ({ amount: item[name] })]
}

/** A column with a decimal string that some rows do not have. */
function moneyIfKnown<Name extends string>(name: Name): Column<{ readonly [N in Name]?: string }> {
  return [
    name,
    (item) => {
      const amount: string | undefined = item[name]
      return amount === undefined ? undefined : { amount }
    },
  ]
}

function time<Name extends string>(name: Name): Column<{ readonly [N in Name]?: number }> {
  return [
    name,
    (item) => {
      const at: number | undefined = item[name]
      return at === undefined ? undefined : new Date(at).toISOString()
    },
  ]
}

const auditColumns: readonly Column<AuditView>[] = [
  'number',
  time('at'),
  'actor',
  'address',
  'action',
  'account',
  'target',
  ['before', ({ before }) => JSON.stringify(before)],
  ['after', ({ after }) => JSON.stringify(after)],
]

const accountColumns: readonly Column<AccountView>[] = [
  'id',
  'name',
  money('balance'),
  money('held'),
  'unlimited',
  time('createdAt'),
]

const entryColumns: readonly Column<EntryView>[] = [
  'number',
  'account',
  time('at'),
  'kind',
  'reference',
  money('amount'),
  money('overage'),
  'note',
]

const keyColumns: readonly Column<KeyView>[] = [
  'id',
  'prefix',
  'account',
  'group',
  ...keyFieldsWith('exported').map((name) =>
    keyFields[name].exported === 'time' ? (time(name) as Column<KeyView>) : name,
  ),
  'continues',
  time('createdAt'),
  time('revokedAt'),
  'source',
]

const usageColumns: readonly Column<UsageView>[] = usageFieldsWith(({ exported }) => exported).map((name) => {
  const { exported } = usageFields[name]
  if (exported === 'time') return time(name as 'startedAt')
  if (exported === 'money') return moneyIfKnown(name as 'cost')
  if (exported === 'attempts') return ['attemptLog', ({ attemptLog = [] }) => attemptLog.map(attemptText).join('; ')]
  return name
})

/** An attempt in a few words, such as `openai gpt-5 failed 503 service_unavailable 12-2012.5 ms`. */
function attemptText({ provider, providerModel, outcome, status, code, startMs, ms }: AttemptRecord): string {
  const words = [
    provider,
    providerModel,
    outcome,
    status,
    code,
    `${startMs}-${Math.round((startMs + ms) * 10) / 10} ms`,
  ]
  return words.filter((word) => word !== undefined).join(' ')
}

const invoiceColumns: readonly Column<ReturnType<typeof rowsOf>[number]>[] = [
  'account',
  'model',
  'item',
  'quantity',
  'per',
  money('price'),
  money('amount'),
]

function rowsOf({ account, model, lines, rest }: InvoiceItem) {
  const remainder = { item: 'rest', quantity: 1, per: 1, price: rest, amount: rest }
  return [...lines, ...(rest === '0' ? [] : [remainder])].map((line) => ({ account, model, ...line }))
}

const costColumns: readonly Column<StatisticsRow>[] = [
  ['vendorCost', ({ vendorCost = '0' }) => ({ amount: vendorCost })],
  ['margin', ({ margin = '0' }) => ({ amount: margin })],
  'uncosted',
]

const sumColumns: readonly Column<StatisticsRow>[] = ['requests', 'incomplete', ...usageUnits, money('cost')]
