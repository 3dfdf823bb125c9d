/** Batches of messages: how they are made, and their results. */
import { invalid } from '../../../errors.ts'
import { byteStream } from '../../../http/byte-stream.ts'
import type { Reply } from '../../../http/exchange.ts'
import type { Query } from '../../endpoint.ts'
import { insertTask, taskId } from '../../../tasks/insert.ts'
import { messages } from '../../messages/messages.ts'
import { countsOf, lifeMs, lineId, type StoredBatch } from '../batch-task.ts'
import { beginning, Batches } from '../batches.ts'
import { intentMs, vendorOf } from '../services.ts'
import { readyBatch, type GivenRequest } from './requests.ts'
import { begun, clientLines } from './result.ts'

/**
 * Milliseconds for which a batch is held before it is stored, beyond the lease of its intent: long enough for another process to
 * find it, but short, because a process that dies before leaves holds that nothing releases earlier.
 */
const spareMs = 60_000

export interface GivenBatch {
  readonly requests: readonly GivenRequest[]
  /** SHA-256 of the request as received. */
  readonly digest: string
  /** A retry with the same key returns the same batch. */
  readonly idempotencyKey: string | undefined
}

/** Who reads results. */
export interface Reader {
  readonly signal: AbortSignal
  /** See `EndpointServices.stallMs`. */
  readonly stallMs: number
}

/** The batches of messages of all accounts. */
export class MessageBatches extends Batches {
  /** Submits a batch. Returns the new one, or the existing one with the same idempotency key. */
  async create(query: Query, given: GivenBatch): Promise<StoredBatch> {
    const { caller, catalogue } = query
    const { now, billing } = this.services
    const { account } = caller
    const { digest, idempotencyKey, requests } = given
    const id = taskId('msgbatch_', account, 'batches', idempotencyKey)
    const attempt = query.id
    const earlier = idempotencyKey === undefined ? undefined : await this.repeated(query, id, digest)
    if (earlier !== undefined) return earlier
    const ready = await readyBatch(query, requests, (line, order, model) =>
      billing.demand(lineId({ attempt }, line), caller, messages, order, model),
    )
    const { demands, lines: asked, ...known } = ready
    await query.admit(await catalogue.findForTask(known.models[0]?.name ?? '', caller))
    const holding = billing.holding(account, intentMs(this.services) + spareMs)
    let lines
    try {
      lines = await holding.add(asked, demands)
    } catch (error) {
      await holding.release()
      throw error
    }
    const at = await now()
    const batch: StoredBatch = {
      account,
      id,
      version: 0,
      createdAt: at,
      expiresAt: at + lifeMs,
      dueAt: at + intentMs(this.services),
      leasedUntil: at + intentMs(this.services),
      data: {
        ...beginning(query, digest),
        state: 'submitting',
        faults: 0,
        size: lines.length,
        multiplier: String(demands[0]?.multiplier ?? 0),
        counts: countsOf(lines.length, 'processing'),
        ...known,
        lines,
        counted: holding.counted,
      },
    }
    const stored = await insertTask(this.services, batch)
    if (stored.data.attempt !== attempt) {
      // A concurrent request with the same key was stored first.
      await holding.release()
      return this.concurrent(query, id, digest)
    }
    return this.submitted(stored)
  }

  /** The results of a batch, as JSON lines. Throws a 400 for one that has not ended, a 404 if they are not kept any more. */
  async results(account: string, id: string, { signal, stallMs }: Reader): Promise<Reply> {
    const batch = await this.own(account, id)
    const { state, operation = '', empty } = batch.data
    if (state !== 'ended') throw invalid('The batch has not ended: it has no results yet.', 'id')
    const source =
      empty === true ? undefined : (await vendorOf(this.services, batch)).jobs.results(operation, { signal })
    const headers = { 'content-type': 'application/x-jsonl' }
    return { status: 200, headers, body: byteStream(await begun(clientLines(batch, source)), stallMs) }
  }
}
