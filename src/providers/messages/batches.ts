/** Batches of messages at a vendor that has Anthropic's API. Source: Anthropic's API reference, Message Batches. */
import { linesOf } from '../../http/lines.ts'
import { countOf, fieldsOf, type Fields } from '../../wire/json.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import type { BatchCall, BatchContext, BatchProvider, BatchStatus, BatchSubmission } from '../batches.ts'
import type { Client, VendorRequest } from '../client.ts'
import { unreadable } from '../failure.ts'
import type { Transfer } from '../transfer.ts'
import { requireFound } from '../videos/content.ts'
import { readFault } from './fault.ts'
import { headersFor } from './native.ts'

const place = '/messages/batches'
/** By how much the clocks of vendor and gateway may differ, in milliseconds. */
const clockMs = 300_000
/** Maximum size of a status or a page of a list, in bytes. */
const answerBytes = 1024 * 1024

export function messageBatches(client: Client): BatchProvider {
  const ask = async (request: Omit<VendorRequest, 'signal'>, { signal }: BatchContext): Promise<Transfer> => {
    const transfer = await client.send({ method: 'GET', headers: headersFor(client, undefined), ...request, signal })
    requireFound(transfer)
    await requireSuccess(transfer, undefined, readFault)
    return transfer
  }
  const read = async (request: Omit<VendorRequest, 'signal'>, context: BatchContext): Promise<Fields> =>
    fieldsOf((await readJsonObject(await ask(request, context), answerBytes)).value)
  const lines = async function* (id: string, context: BatchContext): AsyncGenerator<Uint8Array, void, void> {
    yield* linesOf(await ask({ path: `${pathOf(id)}/results`, maxBytes: Infinity }, context))
  }

  /** Whether the requests of a batch that has ended have the ids of a submission. */
  const isOf = async (id: string, { token }: BatchSubmission, context: BatchContext): Promise<boolean> => {
    for await (const line of lines(id, context)) {
      const { custom_id: named } = fieldsOf(JSON.parse(Buffer.from(line).toString('utf8')))
      return typeof named === 'string' && named.startsWith(`${token}-`)
    }
    return false
  }

  return {
    async create({ requests, clientHeaders, ...context }: BatchCall): Promise<string> {
      const texts = requests.map(({ id, params }) => `{"custom_id":${JSON.stringify(id)},"params":${params}}`)
      const body = Buffer.from(`{"requests":[${texts.join(',')}]}`)
      const { id } = await read(
        { method: 'POST', path: place, body, headers: headersFor(client, clientHeaders) },
        context,
      )
      if (typeof id !== 'string' || id === '') throw unreadable("the vendor's response has no id of a batch")
      return id
    },
    /** The vendor shows the ids of requests only in results, so a batch of the same size and time may have to end first. */
    async lookup(submission: BatchSubmission, context: BatchContext): Promise<string | undefined> {
      const { size } = submission
      const [from, to] = [submission.since - clockMs, submission.until + clockMs]
      let after = ''
      let unknown = 0
      for (;;) {
        const { data, has_more: more, last_id: last } = await read({ path: `${place}?limit=100${after}` }, context)
        const page = Array.isArray(data) ? data.map(fieldsOf) : []
        for (const { id, created_at: created, request_counts: counts, processing_status: state } of page) {
          const at = Date.parse(String(created))
          if (typeof id !== 'string' || at < from || at > to) continue
          if (sizeOf(fieldsOf(counts)) !== size) continue
          if (state !== 'ended') unknown++
          else if (await isOf(id, submission, context)) return id
        }
        const oldest = Date.parse(String(page.at(-1)?.['created_at']))
        if (more !== true || typeof last !== 'string' || !(oldest >= from)) break
        after = `&after_id=${encodeURIComponent(last)}`
      }
      if (unknown > 0)
        throw unreadable(`${unknown} batches have not ended, one of which may be the one that is looked for`)
      return undefined
    },
    async retrieve(id: string, context: BatchContext): Promise<BatchStatus> {
      const { processing_status: state, request_counts: counts } = await read({ path: pathOf(id) }, context)
      return { ended: state === 'ended', counts: countsIn(fieldsOf(counts)) }
    },
    async cancel(id: string, context: BatchContext): Promise<void> {
      await read({ method: 'POST', path: `${pathOf(id)}/cancel` }, context)
    },
    results: lines,
    async delete(id: string, context: BatchContext): Promise<void> {
      await read({ method: 'DELETE', path: pathOf(id) }, context)
    },
  }
}

function pathOf(id: string): string {
  return `${place}/${encodeURIComponent(id)}`
}

function countsIn(counts: Fields): BatchStatus['counts'] {
  const of = (name: keyof BatchStatus['counts']) => countOf(counts[name]) ?? 0
  return {
    processing: of('processing'),
    succeeded: of('succeeded'),
    errored: of('errored'),
    canceled: of('canceled'),
    expired: of('expired'),
  }
}

function sizeOf(counts: Fields): number {
  return Object.values(countsIn(counts)).reduce((sum, count) => sum + count, 0)
}
