/** Readers of the reports of vendors. */
import { requestPlainly } from '../../http/plain-request.ts'
import { dayOf } from '../../records/calendar.ts'
import type { VendorCharge, VendorReport, VendorReportReader, VendorUsage } from './contract.ts'

/** How a report is read. */
export interface ReportOptions {
  /** Required. A key that may read the usage and the costs of the organisation. */
  readonly adminKey: string
  /** The ids of the API keys of this gateway at the vendor, so that other traffic is left out. Default: all. */
  readonly keys?: readonly string[]
  /** Length of the periods in which tokens are compared. Default `1h`. */
  readonly grain?: keyof typeof grains
  /** The address of the vendor. */
  readonly baseURL?: string
}

const grains = { '1m': [60_000, 1_440], '1h': [3_600_000, 168], '1d': [86_400_000, 31] } as const

type Json = Readonly<Record<string, unknown>>
type Query = Readonly<Record<string, string | readonly string[] | undefined>>

const timeoutMs = 60_000

/** All rows of a report, each with its bucket. */
async function* rowsOf(base: string, path: string, query: Query, headers: Readonly<Record<string, string>>) {
  for await (const bucket of bucketsOf(base, path, query, headers))
    for (const row of listOf(bucket['results'])) yield { bucket, row }
}

/** All buckets of a report, page by page. */
async function* bucketsOf(base: string, path: string, query: Query, headers: Readonly<Record<string, string>>) {
  for (let page: string | undefined; ;) {
    const url = new URL(path, base)
    for (const [name, value] of Object.entries({ ...query, page }))
      for (const each of [value ?? []].flat()) url.searchParams.append(name, each)
    const { status, text } = await requestPlainly(url, { headers, timeoutMs })
    if (status !== 200) throw new Error(`${url.hostname} responded with ${status} to a question about usage`)
    const body = Object(JSON.parse(text)) as Json
    for (const bucket of listOf(body['data'])) yield bucket
    page = body['has_more'] === true || body['next_page'] ? (body['next_page'] as string | undefined) : undefined
    if (!page) return
  }
}

/** OpenAI: the usage of completions and the costs of an organisation. Costs are of all keys unless `keys` are given. */
export function openaiReport({
  adminKey,
  keys,
  grain = '1h',
  baseURL = 'https://api.openai.com',
}: ReportOptions): VendorReportReader {
  const headers = { authorization: `Bearer ${adminKey}` }
  return async ({ from, to }) => {
    const period = { start_time: `${from / 1000}`, end_time: `${to / 1000}`, api_key_ids: keys }
    const usage: VendorUsage[] = []
    const [, limit] = grains[grain]
    const asked = { ...period, bucket_width: grain, group_by: ['model', 'service_tier'], limit: `${limit}` }
    for await (const { bucket, row } of rowsOf(baseURL, '/v1/organization/usage/completions', asked, headers)) {
      usage.push({
        start: number(bucket['start_time']) * 1000,
        end: number(bucket['end_time']) * 1000,
        model: String(row['model']),
        ...tierOf(row['service_tier']),
        requests: number(row['num_model_requests']),
        inputTokens: number(row['input_tokens']),
        cachedTokens: number(row['input_cached_tokens']),
        outputTokens: number(row['output_tokens']),
      })
    }
    const charges: VendorCharge[] = []
    const costs = { ...period, bucket_width: '1d', group_by: ['line_item'], limit: '180' }
    for await (const { bucket, row } of rowsOf(baseURL, '/v1/organization/costs', costs, headers)) {
      const [model = ''] = String(row['line_item']).split(', ')
      const { value } = Object(row['amount']) as { value?: unknown }
      charges.push({ day: dayOf(number(bucket['start_time']) * 1000), model, cost: decimal(value) })
    }
    return { usage, charges }
  }
}

/** Anthropic: the usage and cost reports of an organisation. Costs leave out the priority tier, and are of all keys. */
export function anthropicReport({
  adminKey,
  keys,
  grain = '1h',
  baseURL = 'https://api.anthropic.com',
}: ReportOptions): VendorReportReader {
  const headers = { 'x-api-key': adminKey, 'anthropic-version': '2023-06-01' }
  return async ({ from, to }) => {
    const period = { starting_at: new Date(from).toISOString(), ending_at: new Date(to).toISOString() }
    const usage: VendorUsage[] = []
    const [, limit] = grains[grain]
    const groups = { 'group_by[]': ['model', 'service_tier'], 'api_key_ids[]': keys }
    const asked = { ...period, ...groups, bucket_width: grain, limit: `${limit}` }
    for await (const { bucket, row } of rowsOf(baseURL, '/v1/organizations/usage_report/messages', asked, headers)) {
      const parts = Object.values(Object(row['cache_creation']) as Json)
      const written = parts.reduce<number>((sum, each) => sum + number(each), 0)
      const cachedTokens = number(row['cache_read_input_tokens'])
      usage.push({
        start: Date.parse(String(bucket['starting_at'])),
        end: Date.parse(String(bucket['ending_at'])),
        model: String(row['model']),
        ...tierOf(row['service_tier']),
        inputTokens: number(row['uncached_input_tokens']) + cachedTokens + written,
        cachedTokens,
        outputTokens: number(row['output_tokens']),
      })
    }
    const charges: VendorCharge[] = []
    const costs = { ...period, 'group_by[]': ['description'], bucket_width: '1d', limit: '31' }
    for await (const { bucket, row } of rowsOf(baseURL, '/v1/organizations/cost_report', costs, headers)) {
      // Amounts are in cents.
      const cost = decimal(number(row['amount']) / 100)
      // Searches and the like are of no model.
      const model = String(row['model'] ?? row['description'])
      charges.push({ day: String(bucket['starting_at']).slice(0, 10), model, cost })
    }
    return { usage, charges }
  }
}

/** OpenRouter: the activity of the last thirty days. */
export function openrouterReport({
  adminKey,
  baseURL = 'https://openrouter.ai',
}: Pick<ReportOptions, 'adminKey' | 'baseURL'>): VendorReportReader {
  return async ({ from, to }) => {
    const rows: Json[] = []
    for await (const row of bucketsOf(baseURL, '/api/v1/activity', {}, { authorization: `Bearer ${adminKey}` }))
      rows.push(row)
    return reportOf(
      rows.map((row) => ({
        day: String(row['date']).slice(0, 10),
        model: String(row['model']),
        requests: number(row['requests']),
        input_tokens: number(row['prompt_tokens']),
        output_tokens: number(row['completion_tokens']),
        cost: decimal(row['usage']),
      })),
      { from, to },
    )
  }
}

const csvColumns = ['day', 'model', 'input_tokens', 'cached_tokens', 'output_tokens', 'cost']

/**
 * Any other vendor: CSV with the columns `day`, `model`, `input_tokens`, `cached_tokens`, `output_tokens`, `cost`, and `requests` if
 * known. Throws a `TypeError` for a missing column, and for a `day` that is none.
 */
export function csvReport(csv: string): VendorReportReader {
  const [head = '', ...lines] = csv.split(/\r?\n/).filter((line) => line.trim() !== '')
  const names = cellsOf(head)
  const missing = csvColumns.find((name) => !names.includes(name))
  if (missing !== undefined) throw new TypeError(`csvReport: there is no column "${missing}".`)
  const rows = lines.map((line) => Object.fromEntries(cellsOf(line).map((cell, at) => [names[at] ?? '', cell])))
  const stray = rows.find(({ day = '' }) => !/^\d{4}-\d\d-\d\d$/.test(day))
  if (stray !== undefined) throw new TypeError(`csvReport: "${stray['day']}" is no day, such as 2026-10-01.`)
  return async (period) => reportOf(rows, period)
}

function cellsOf(line: string): string[] {
  const cells = `,${line.trim()}`.matchAll(/,\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))/g)
  return Array.from(cells, ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
}

function reportOf(rows: readonly Json[], { from, to }: { readonly from: number; readonly to: number }): VendorReport {
  const timed = rows.map((row) => ({ row, start: Date.parse(`${String(row['day'])}T00:00:00Z`) }))
  const some = timed.filter(({ start }) => start >= from && start < to)
  return {
    usage: some.map(({ row, start }) => ({
      start,
      end: start + 86_400_000,
      model: String(row['model']),
      ...(row['requests'] !== undefined && { requests: number(row['requests']) }),
      inputTokens: number(row['input_tokens']),
      cachedTokens: number(row['cached_tokens']),
      outputTokens: number(row['output_tokens']),
    })),
    charges: some.map(({ row, start }) => ({
      day: dayOf(start),
      model: String(row['model']),
      cost: decimal(row['cost']),
    })),
  }
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : []
}

function number(value: unknown): number {
  return Number(value ?? 0) || 0
}

/** At most nine decimal places: reports have floating-point numbers. */
function decimal(value: unknown): string {
  return number(value).toFixed(9)
}

function tierOf(tier: unknown): { readonly tier?: string } {
  return typeof tier !== 'string' || ['default', 'standard', 'auto'].includes(tier) ? {} : { tier }
}
