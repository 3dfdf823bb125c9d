import { readFileSync } from 'node:fs'
import {
  anthropicReport,
  createGateway,
  csvReport,
  openaiReport,
  openrouterReport,
  type Reconciliation,
  type VendorReportReader,
} from '../../src/index.ts'
import { load, type Place } from './load.ts'

/** What the command line says. */
export interface ReconcileArguments {
  /** The name of the provider. */
  readonly vendor?: string | undefined
  /** Days, as `YYYY-MM-DD`; `to` is exclusive. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** A file with the bill. Default: the vendor is asked. */
  readonly csv?: string | undefined
  /** The part of the bill that may be unexplained. Default 0.001. */
  readonly tolerance?: string | undefined
}

const readers = { openai: openaiReport, anthropic: anthropicReport, openrouter: openrouterReport }

/** Compares the books with the bill, and returns the lines to print and the exit code: 1 if too much is unexplained. */
export async function reconcile(
  place: Place,
  { vendor = '', from = '', to = '', csv, tolerance = '0.001' }: ReconcileArguments,
): Promise<{ readonly lines: readonly string[]; readonly code: number }> {
  const [start, end, most] = [Date.parse(from), Date.parse(to), Number(tolerance)]
  if (vendor === '' || !(start < end) || !(most >= 0))
    throw new Error('reconcile needs --vendor NAME --from YYYY-MM-DD --to YYYY-MM-DD, and a --tolerance of at least 0')
  const report = csv === undefined ? readerOf(vendor, place) : csvReport(readFileSync(csv, 'utf8'))
  const { options, close } = await load(place)
  const gateway = createGateway(options)
  try {
    const result = await gateway.admin.reconcile({ vendor, from: start, to: end, report })
    return { lines: linesOf(result), code: result.unexplainedShare > most ? 1 : 0 }
  } finally {
    await gateway.close({ graceMs: 0 })
    await close()
  }
}

function readerOf(vendor: string, { environment }: Place): VendorReportReader {
  const reader = Object.hasOwn(readers, vendor) ? readers[vendor as keyof typeof readers] : undefined
  const [name, base] = [`${vendor.toUpperCase()}_ADMIN_KEY`, `${vendor.toUpperCase()}_BASE_URL`]
  if (reader === undefined) throw new Error(`there is no reader for ${vendor}: pass its bill with --csv FILE`)
  const adminKey = environment[name]
  if (!adminKey) throw new Error(`${name} is not set: a key that may read the usage and the costs of the organisation`)
  const baseURL = environment[base]
  return reader({ adminKey, ...(baseURL && { baseURL: new URL(baseURL).origin }) })
}

function linesOf(result: Reconciliation): string[] {
  const { ours, theirs, difference, causes, unexplained, unexplainedShare, days } = result
  const differing = days.filter((day) => day.difference !== '0')
  return [
    ...differing.map((day) =>
      [
        day.day,
        day.model,
        `books ${day.ours}`,
        `bill ${day.theirs}`,
        ...explained(day.causes),
        `unexplained ${day.unexplained}`,
      ].join('  '),
    ),
    `books ${ours}  bill ${theirs}  difference ${difference}`,
    ...explained(causes).map((line) => `  ${line}`),
    `  unexplained ${unexplained} (${(unexplainedShare * 100).toFixed(3)} % of the bill)`,
  ]
}

function explained(causes: Reconciliation['causes']): string[] {
  return Object.entries(causes).map(([cause, amount]) => `${cause} ${amount}`)
}
