import { keyFields, keyFieldsWith } from '../callers/key-fields.ts'
import { usageFields, usageFieldsWith } from '../observe/usage/fields.ts'
import { usageUnits } from '../observe/usage/units.ts'
import type { AttemptRecord } from '../money/attempt-log.ts'
import { mapPage, type Page, type PageRequest } from '../records/page.ts'
import type { AuditAdmin, AuditQuestion, AuditView } from './audit/audit-admin.ts'
import type { AccountAdmin } from './accounts.ts'
import type { KeyAdmin, KeySearch } from './keys.ts'
import type { InvoiceItem } from './invoice.ts'
import type { Statement, StatementQuestion } from './statement.ts'
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

interface Listed {
  readonly accounts: AccountAdmin
  readonly keys: KeyAdmin
  readonly usage: UsageAdmin
  readonly auditLog: AuditAdmin
  statement(question: StatementQuestion): Promise<Statement>
}

/**
 * The lists of `gateway.admin` as CSV (RFC 4180), a header line first, in pieces that are read from the stores as they are
 * needed: `Readable.from(gateway.admin.csv.usage({ account })).pipe(response)`. Times are in ISO 8601, amounts decimal
 * numbers. What a spreadsheet would take for a formula in a text begins with an apostrophe.
 */
export class CsvAdmin {
  readonly #admin: Listed

  /** @internal */
  constructor(admin: Listed) {
    this.#admin = admin
  }

  /** All accounts, ordered by id. */
  accounts(): AsyncGenerator<string, void> {
    return csvOf(accountColumns, (page) => this.#admin.accounts.list(page))
  }

  /** The ledger entries of an account, newest first. */
  entries(account: string): AsyncGenerator<string, void> {
    return csvOf(entryColumns, (page) => this.#admin.accounts.entries(account, page))
  }

  /** The keys of all accounts that a question selects, newest first. */
  keys(question: Whole<KeySearch> = {}): AsyncGenerator<string, void> {
    return csvOf(keyColumns, (page) => this.#admin.keys.search({ ...question, ...page }))
  }

  /** The changes that a question selects, newest first. */
  auditLog(question: Whole<AuditQuestion> = {}): AsyncGenerator<string, void> {
    return csvOf(auditColumns, async (page) =>
      mapPage(await this.#admin.auditLog.list({ ...question, ...page }), auditRow),
    )
  }

  /** The requests that a question selects, newest first. `without`: columns to leave out. Default: what it does not ask for. */
  usage(question: Whole<UsageListQuestion>, without: readonly (keyof UsageView)[] = []): AsyncGenerator<string, void> {
    const left = new Set<string>(question.costs === true ? without : [...without, 'vendorCost', 'margin'])
    const columns = Object.fromEntries(Object.entries(usageColumns).filter(([name]) => !left.has(name)))
    return csvOf(columns, async (page) => mapPage(await this.#admin.usage.list({ ...question, ...page }), usageRow))
  }

  /** The lines of an invoice, one a row. What lines do not say is in rows with the item `rest`. */
  invoice(question: InvoiceQuestion): AsyncGenerator<string, void> {
    return csvOf(invoiceColumns, async () => ({
      items: (await this.#admin.usage.invoice(question)).flatMap(invoiceRows),
    }))
  }

  /** A month of an account: the opening balance, what was paid and charged, and the closing balance, which is their sum. */
  statement(question: StatementQuestion): AsyncGenerator<string, void> {
    return csvOf(statementColumns, async () => ({ items: statementRows(await this.#admin.statement(question)) }))
  }

  /** The sums that a question asks for, in the order of its dimensions. */
  statistics(question: UsageSumsQuestion): AsyncGenerator<string, void> {
    const { by, costs = false } = question
    // The question is checked before the first piece is made.
    const columns = { ...columnsOf([by].flat().join(' ')), ...sumColumns, ...(costs && costColumns) }
    let rows: readonly StatisticsRow[] | undefined
    return csvOf(columns, async ({ limit = 1_000, after = '0' }) => {
      rows ??= await this.#admin.usage.statistics(question)
      const end = Number(after) + limit
      return { items: rows.slice(Number(after), end), ...(end < rows.length && { next: String(end) }) }
    })
  }
}

/** How a field is written: a text or number as it is, an amount without the protection of texts, a time in ISO 8601. */
export type CellKind = 'text' | 'money' | 'time'

/** The columns of a file, by the names of fields. */
export type Columns = Readonly<Record<string, CellKind>>

const pageSize = 1_000

/** One piece of text for each page, the first with the header line. An invalid question is found before the first piece. */
export async function* csvOf(
  columns: Columns,
  pageAt: (page: PageRequest) => Promise<Page<object>>,
): AsyncGenerator<string, void> {
  const kinds = Object.entries(columns)
  const lineOf = (item: object) =>
    line(kinds.map(([name, kind]) => cellOf(kind, (item as Readonly<Record<string, unknown>>)[name])))
  let head = line(Object.keys(columns).map((name) => cellOf('text', name)))
  let after: string | undefined
  do {
    const { items, next }: Page<object> = await pageAt({ limit: pageSize, ...(after !== undefined && { after }) })
    yield head + items.map(lineOf).join('')
    head = ''
    after = next
  } while (after !== undefined)
}

function line(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`
}

/**
 * What a spreadsheet would take for the beginning of a formula: also after a semicolon, a tab or a line break, at which it may
 * split a line, and in the full-width forms that it converts in some languages.
 */
const formula = /^(?=[;\t\r\n])|(?<=^|[;\t\r\n])(?=[\s"']*[=+\-@﹢﹣﹦﹫＋－＝＠])/g

function cellOf(kind: CellKind, value: unknown): string {
  if (value === undefined) return ''
  if (kind === 'time') return new Date(value as number).toISOString()
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = Array.isArray(value) ? value.join(' ') : (value as string)
  if (kind === 'money') return text
  const harmless = text.replace(formula, "'")
  return /[",\r\n]|^\s|\s$/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

const auditColumns = columnsOf('number at:time actor address action account target before after')
const accountColumns = columnsOf('id name balance:money held:money unlimited createdAt:time')
const entryColumns = columnsOf('number account at:time kind reference amount:money overage:money note')
const invoiceColumns = columnsOf('account model item quantity per price:money amount:money')
const statementColumns = columnsOf('kind at:time reference note model item quantity per price:money amount:money')
const costColumns = columnsOf('vendorCost:money margin:money uncosted')
const sumColumns = columnsOf(`requests incomplete ${usageUnits.join(' ')} cost:money`)

const keyColumns: Columns = {
  ...columnsOf('id prefix account group'),
  ...Object.fromEntries(
    keyFieldsWith('exported').map((name) => [name, keyFields[name].exported === 'time' ? 'time' : 'text']),
  ),
  ...columnsOf('continues createdAt:time revokedAt:time source'),
}

const usageColumns: Columns = Object.fromEntries(
  usageFieldsWith(({ exported }) => exported).map((name) => {
    const { exported } = usageFields[name]
    return [name, exported === 'time' || exported === 'money' ? exported : 'text']
  }),
)

/** Columns from their names, each with its kind unless it is a text. */
function columnsOf(names: string): Columns {
  const found = names.matchAll(/(\w+)(?::(\w+))?/g)
  return Object.fromEntries(Array.from(found, ([, name = '', kind = 'text']) => [name, kind as CellKind]))
}

/** With its values before and after as JSON. */
function auditRow({ before, after, ...entry }: AuditView) {
  return { ...entry, before: JSON.stringify(before), after: JSON.stringify(after) }
}

function usageRow({ attemptLog, ...record }: UsageView) {
  return { ...record, attemptLog: attemptLog?.map(attemptText).join('; ') }
}

/** An attempt in a few words, such as `openai gpt-5 failed 503 service_unavailable 12-2012.5 ms`. */
function attemptText({ provider, providerModel, outcome, status, code, startMs, ms }: AttemptRecord): string {
  const time = `${startMs}-${Math.round((startMs + ms) * 10) / 10} ms`
  return [provider, providerModel, outcome, status, code, time].filter((word) => word !== undefined).join(' ')
}

function statementRows({ from, to, opening, credits, charges, otherCharges, closing }: Statement): object[] {
  return [
    { kind: 'opening', at: from, amount: opening },
    ...credits.map(({ kind, at, reference, note, amount }) => ({ kind, at, reference, note, amount })),
    ...charges.flatMap(invoiceRows).map((line) => ({ kind: 'charge', ...line, amount: negated(line.amount) })),
    { kind: 'otherCharges', amount: negated(otherCharges) },
    { kind: 'closing', at: to, amount: closing },
  ]
}

function negated(amount: string): string {
  return amount === '0' ? amount : amount.startsWith('-') ? amount.slice(1) : `-${amount}`
}

function invoiceRows({ account, model, lines, rest }: InvoiceItem) {
  const remainder = { item: 'rest', quantity: 1, per: 1, price: rest, amount: rest }
  return [...lines, ...(rest === '0' ? [] : [remainder])].map((each) => ({ account, model, ...each }))
}
