import type { Model } from '../../models/contract.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { Observer } from '../../observe/observe.ts'
import type { BatchJobs } from '../../providers/batches.ts'
import type { Provider } from '../../providers/contract.ts'
import { decisionMs } from '../../tasks/insert.ts'
import { saved, type Saved, type TaskKeeping } from '../../tasks/stored.ts'
import type { BatchLine, BatchTask, StoredBatch } from './batch-task.ts'
import type { BatchBilling, Settled } from './billing.ts'

/** What batches of messages and batches of files do differently. */
export interface BatchKind {
  /** Timeout of a submission, in milliseconds. */
  readonly startMs: number
  /** The batches of a vendor; undefined if it has none of this kind. */
  readonly jobs: (provider: Provider) => BatchJobs | undefined
  /** The requests of a batch, in their order. */
  readonly lines: (batch: StoredBatch) => Promise<readonly BatchLine[]>
  /** Submits a batch. Resolves to the vendor's id of it. */
  readonly submit: (provider: Provider, batch: StoredBatch, signal: AbortSignal) => Promise<string>
  /** The vendor has a batch: what was needed to submit it is not needed any more. */
  readonly accepted?: (batch: StoredBatch) => Promise<void>
  /** A batch has ended: lets go of all that only its steps need. May be called again. */
  readonly ended?: (batch: StoredBatch) => Promise<void>
  /** Whether the vendor's results are not needed once a batch has ended. */
  readonly deletesAtEnd?: boolean
  /** Reads the results of a batch that has ended. `models`: those of the batch. */
  readonly reader: (batch: StoredBatch, lines: readonly BatchLine[], models: readonly Model[]) => ResultReader
}

export interface ResultReader {
  /** The result in a line of the vendor; undefined if it belongs to no request of the batch. */
  read(line: Uint8Array): LineResult | undefined | Promise<LineResult | undefined>
  /** The result of a request for which the vendor has none. */
  missing(index: number): LineResult
  /** Keeps results that are charged, in this order. */
  keep?(results: readonly LineResult[]): Promise<void>
  /** Resolves to what is kept of all results, once that is stored. */
  end?(): Promise<Partial<BatchTask>>
  /** Not all results could be read. */
  stop?(): void
}

/** How a request of a batch ended. */
export interface LineResult {
  /** The number of the request. */
  readonly index: number
  /** Without its charge. */
  readonly receipt: Receipt
}

/** What the steps of a batch depend on. */
export interface BatchServices extends TaskKeeping {
  readonly kind: BatchKind
  /** The models of a batch at the price of its creation, each with the deployment that has it; undefined for one that is gone. */
  readonly models: (batch: StoredBatch) => Promise<readonly (Model | undefined)[]>
  readonly billing: BatchBilling
  readonly deliver: (settled: Settled) => void
  readonly observer: Observer
}

/** All in milliseconds. */
export const timing: Readonly<Record<'acceptMs' | 'submitMs' | 'checkMs' | 'leaseMs' | 'deadlineMs', number>> = {
  /** From the end of a submission until the vendor lists it. */
  acceptMs: 60_000,
  /** From the creation to the last submission. */
  submitMs: 3_600_000,
  /** Timeout of a check. */
  checkMs: 20_000,
  /** Lease of a batch for one step. */
  leaseMs: 30_000,
  /** From the creation until a batch that has not ended is given up: twice the time that vendors have. */
  deadlineMs: 2 * 86_400_000,
}

/** The lease of an intent: the time its process may wait for the vendor, plus the time until the vendor lists the batch. */
export function intentMs({ kind }: Pick<BatchServices, 'kind'>): number {
  return kind.startMs + timing.acceptMs
}

/** Until when a repeated request waits to learn whether a batch that is being made is refused. */
export function decidedAt(
  services: Pick<BatchServices, 'kind'>,
  { data, createdAt, leasedUntil }: StoredBatch,
): number {
  if (data.state === 'preparing') return createdAt + decisionMs
  return data.state === 'submitting' ? leasedUntil - intentMs(services) + decisionMs : 0
}

export interface BatchVendor {
  readonly provider: Provider
  readonly jobs: BatchJobs
}

/** The vendor that has a batch. Rejects if no model of it is served by that vendor now. */
export async function vendorOf(services: BatchServices, batch: StoredBatch): Promise<BatchVendor> {
  for (const model of await services.models(batch)) {
    const provider = model?.deployments[0]?.provider
    const jobs = provider && services.kind.jobs(provider)
    if (provider !== undefined && jobs !== undefined) return { provider, jobs }
  }
  throw new Error(`the provider "${batch.data.provider}" of the batch ${batch.id} is not configured`)
}

/** Stores the next version, also if the batch was cancelled meanwhile. */
export function save(services: Pick<BatchServices, 'store'>, next: StoredBatch): Promise<Saved<BatchTask>> {
  return saved(services, next, 'cancelledAt')
}

/** Whole milliseconds to the next check: a twentieth of the time since the creation, from 5 seconds to a minute. */
export function intervalMs({ createdAt }: Pick<StoredBatch, 'createdAt'>, now: number): number {
  return Math.min(60_000, Math.max(5_000, Math.round((now - createdAt) / 20)))
}
