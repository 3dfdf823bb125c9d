/** Batches of messages at a vendor that has Anthropic's API. Source: Anthropic's API reference, Message Batches. */
import { countOf, fieldsOf, type Fields } from '../../wire/json.ts'
import { readObject } from '../answer.ts'
import { BatchClient, clockMs } from '../batch-client.ts'
import type { BatchCall, BatchContext, BatchProvider, BatchStatus, BatchSubmission } from '../batches.ts'
import type { Client } from '../client.ts'
import { unreadable } from '../failure.ts'
import { readFault } from './fault.ts'
import { headersFor } from './native.ts'

const path = '/messages/batches'
const timeOf = ({ created_at: created }: Fields) => Date.parse(String(created))

export function messageBatches(client: Client): BatchProvider {
  const headers = headersFor(client, undefined)
  const vendor = new BatchClient(client, { path, after: 'after_id', timeOf, headers, fault: readFault })
  const results = (id: string, context: BatchContext) => vendor.lines(`${vendor.pathOf(id)}/results`, context)

  /** Whether the requests of a batch that has ended have the ids of a submission. */
  const isOf = async (id: string, { token }: BatchSubmission, context: BatchContext): Promise<boolean> => {
    for await (const line of results(id, context)) {
      const { custom_id: named } = fieldsOf(readObject(line))
      return typeof named === 'string' && named.startsWith(`${token}-`)
    }
    return false
  }

  return {
    create({ requests, clientHeaders, ...context }: BatchCall): Promise<string> {
      const texts = requests.map(({ id, params }) => `{"custom_id":${JSON.stringify(id)},"params":${params}}`)
      const body = Buffer.from(`{"requests":[${texts.join(',')}]}`)
      return vendor.create({ path, body, headers: headersFor(client, clientHeaders) }, context)
    },
    /** The vendor shows the ids of requests only in results, so a batch of the same size and time may have to end first. */
    async lookup(submission: BatchSubmission, context: BatchContext): Promise<string | undefined> {
      const { size, since, until } = submission
      let unknown = 0
      for await (const batch of vendor.madeSince(since, context)) {
        const { id, request_counts: counts, processing_status: state } = batch
        const at = timeOf(batch)
        if (typeof id !== 'string' || at < since - clockMs || at > until + clockMs) continue
        if (sizeOf(fieldsOf(counts)) !== size) continue
        if (state !== 'ended') unknown++
        else if (await isOf(id, submission, context)) return id
      }
      if (unknown > 0)
        throw unreadable(`${unknown} batches have not ended, one of which may be the one that is looked for`)
      return undefined
    },
    async retrieve(id: string, context: BatchContext): Promise<BatchStatus> {
      const { processing_status: state, request_counts: counts } = await vendor.read(
        { path: vendor.pathOf(id) },
        context,
      )
      return { ended: state === 'ended', counts: countsIn(fieldsOf(counts)) }
    },
    async cancel(id: string, context: BatchContext): Promise<void> {
      await vendor.read({ method: 'POST', path: `${vendor.pathOf(id)}/cancel` }, context)
    },
    results,
    async delete(id: string, context: BatchContext): Promise<void> {
      await vendor.read({ method: 'DELETE', path: vendor.pathOf(id) }, context)
    },
  }
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
