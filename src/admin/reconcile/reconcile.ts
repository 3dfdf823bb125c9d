/** Compares the books with the bill of a vendor. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { Deployment } from '../../models/contract.ts'
import { parseDecimal } from '../../money/money.ts'
import { costOf, formatCost } from '../../money/prices/cost.ts'
import { multiplierOne, parseFactor } from '../../money/prices/rate.ts'
import type { UsageRecord } from '../../observe/usage/contract.ts'
import { undated } from '../../providers/undated.ts'
import { allItems, type PageRequest } from '../../records/page.ts'
import { picked } from '../../records/picked.ts'
import { parsed, strict } from '../../records/rules.ts'
import { usageOf } from '../../wire/usage.ts'
import { requireValid } from '../check.ts'
import { id, time } from '../questions.ts'
import type { AdminServices } from '../services.ts'
import { requireRange } from '../time-range.ts'
import { Books, compare, countNames, nothing, type ComparedDay, type Finding, type Value } from './compare.ts'
import type { Counts, DifferenceCause, VendorReportReader } from './contract.ts'

/** What is compared. */
export interface ReconcileQuestion {
  /** The name of the provider in usage records, such as `openai`. */
  readonly vendor: string
  /** Start of the period, inclusive: midnight in UTC. Milliseconds since the epoch. */
  readonly from: number
  /** End of the period, exclusive: midnight in UTC. Milliseconds since the epoch. */
  readonly to: number
  /** Reads the bill, such as `openaiReport({ adminKey })`. Default: that of the option `reports`. */
  readonly report?: VendorReportReader
  /** Units of the gateway's currency for one of the report's. A decimal string. Default `1`. */
  readonly rate?: string
}

/** A sum that differs, by cause. Costs are decimal strings in the currency of the gateway. */
export interface ReconciledSum {
  /** What the books say. */
  readonly ours: string
  /** What the vendor charges. */
  readonly theirs: string
  /** `theirs` less `ours`. */
  readonly difference: string
  /** The parts of the difference whose cause is known. */
  readonly causes: Readonly<Partial<Record<DifferenceCause, string>>>
  /** The rest of it. */
  readonly unexplained: string
}

/** The books beside the bill. */
export interface Reconciliation extends ReconciledSum {
  /** The unexplained amounts of all days, without their signs, as a part of `theirs`: 0.001 is a tenth of a percent. */
  readonly unexplainedShare: number
  /** Each model on each day, in UTC. */
  readonly days: readonly ReconciledDay[]
  /** The periods of models in which tokens differ: what the vendor counts more than the books. */
  readonly findings: readonly Finding[]
}

/** A model on a day. */
export interface ReconciledDay extends ReconciledSum {
  /** The vendor's name of the model, without the day of its version. */
  readonly model: string
  /** In UTC, as `YYYY-MM-DD`. */
  readonly day: string
  /** What the books count. */
  readonly ourCounts: Counts
  /** What the vendor counts. */
  readonly theirCounts: Counts
}

const dayMs = 86_400_000
const midnight = time.refine((at) => at % dayMs === 0, 'must be midnight in UTC')
const rule = strict({
  vendor: id,
  from: midnight,
  to: midnight,
  report: z
    .custom((value) => typeof value === 'function', 'must be a reader, such as openaiReport({ adminKey })')
    .optional(),
  rate: parsed((rate: string) => parseFactor(rate, 'rate')).optional(),
})

/** Reads all records of the period, and the report. */
export async function reconcile(services: AdminServices, question: ReconcileQuestion): Promise<Reconciliation> {
  requireValid(rule, question)
  const { vendor, from, to, rate = '1' } = question
  const report = question.report ?? (Object.hasOwn(services.reports, vendor) ? services.reports[vendor] : undefined)
  if (report === undefined) throw invalid('The option "reports" has no reader of this name.', 'vendor')
  requireRange(question)
  const factor = parseFactor(rate, 'rate')
  const bill = await report({ from, to })
  const [first] = bill.usage
  const grainMs = first === undefined ? dayMs : first.end - first.start
  const books = new Books(grainMs)
  /** The models of requests, by those of the vendor. */
  const asked = new Map<string, UsageRecord>()
  const recordsAt = (page: PageRequest) => services.usage.page((store) => store.list({ from, to, ...page }))
  for await (const record of allItems(recordsAt)) {
    if (record.provider !== vendor || record.outcome === 'refused') continue
    books.add(record)
    asked.set(undated(record.providerModel ?? record.model), record)
  }
  const deployments = new Map<string, Deployment>()
  for (const [model, record] of asked) {
    const found = await services.catalogue.lookUp(record.model, record.startedAt).catch(() => undefined)
    const own = found?.deployments.find((each) => each.provider.name === vendor && each.model === record.providerModel)
    if (own !== undefined) deployments.set(model, own)
  }
  const value: Value = (model, counts, tier) => {
    const listed = services.prices?.find({ provider: vendor, model, at: from })?.cost
    const cost = deployments.get(model)?.cost ?? (listed && { price: listed, multiplier: multiplierOne })
    return cost && valueOf(cost, counts, tier)
  }
  const chargeOf = (cost: string) => (parseDecimal(cost, 9) * factor) / multiplierOne
  const { days, findings } = compare(books, bill, grainMs, value, chargeOf)
  const unexplained = days.reduce((sum, day) => sum + (day.unexplained < 0n ? -day.unexplained : day.unexplained), 0n)
  const total = totalOf(days)
  const theirs = total.theirs.cost
  return {
    ...sumOf(total),
    unexplainedShare: theirs === 0n ? Number(unexplained > 0n) : Number(unexplained) / Number(theirs),
    days: days.map((each) => ({
      model: each.model,
      day: each.day,
      ...sumOf(each),
      ourCounts: picked(each.ours, countNames),
      theirCounts: picked(each.theirs, countNames),
    })),
    findings,
  }
}

/** By the rates of small calls, because counts are differences and may be negative. */
function valueOf(
  cost: NonNullable<Deployment['cost']>,
  { requests, inputTokens, cachedTokens, outputTokens }: Counts,
  serviceTier?: string,
): bigint | undefined {
  const per = (usage: ReturnType<typeof usageOf>) => costOf(cost, { usage, ...(serviceTier && { serviceTier }) })
  const fee = per(usageOf(0, 0))
  if (fee === undefined) return undefined
  const thousand = (usage: ReturnType<typeof usageOf>) => (per(usage) ?? 0n) - fee
  const [input, output] = [thousand(usageOf(1_000, 0)), thousand(usageOf(0, 1_000))]
  const cached = thousand({ ...usageOf(1_000, 0), prompt_tokens_details: { cached_tokens: 1_000 } })
  const parts: [number, bigint][] = [
    [inputTokens - cachedTokens, input],
    [cachedTokens, cached],
    [outputTokens, output],
  ]
  return parts.reduce((sum, [count, rate]) => sum + (BigInt(count) * rate) / 1_000n, BigInt(requests) * fee)
}

function totalOf(days: readonly ComparedDay[]): Pick<ComparedDay, 'ours' | 'theirs' | 'causes' | 'unexplained'> {
  const causes: Partial<Record<DifferenceCause, bigint>> = {}
  let [ours, theirs, unexplained] = [0n, 0n, 0n]
  for (const day of days) {
    ours += day.ours.cost
    theirs += day.theirs.cost
    unexplained += day.unexplained
    for (const [cause, amount] of Object.entries(day.causes) as [DifferenceCause, bigint][])
      causes[cause] = (causes[cause] ?? 0n) + amount
  }
  return { ours: { ...nothing, cost: ours }, theirs: { ...nothing, cost: theirs }, causes, unexplained }
}

function sumOf({ ours, theirs, causes, unexplained }: ReturnType<typeof totalOf>): ReconciledSum {
  const named = Object.entries(causes).map(([cause, amount]) => [cause, signed(amount)])
  return {
    ours: signed(ours.cost),
    theirs: signed(theirs.cost),
    difference: signed(theirs.cost - ours.cost),
    causes: Object.fromEntries(named) as ReconciledSum['causes'],
    unexplained: signed(unexplained),
  }
}

function signed(amount: bigint): string {
  return amount < 0n ? `-${formatCost(-amount)}` : formatCost(amount)
}
