/** Anthropic's Message Batches. Source: Anthropic's API reference, Message Batches. */
import { refusedField } from '../../../errors.ts'
import { jsonReply } from '../../../http/answers.ts'
import { readJson } from '../../../http/body.ts'
import type { Reply } from '../../../http/exchange.ts'
import { idempotencyKeyOf } from '../../../http/idempotency-key.ts'
import { queryOf } from '../../../http/target.ts'
import { bodyDigest } from '../../body-digest.ts'
import { defineEndpoint } from '../../define.ts'
import type { Query, QueryEndpoint } from '../../endpoint.ts'
import { countsOf, vendorMs, type StoredBatch } from '../batch-task.ts'
import { limitIn, pageOf, placeIn } from '../../paging.ts'
import { batchIdIn } from '../batches.ts'
import type { MessageBatches } from './message-batches.ts'
import { givenRequests } from './requests.ts'

/** The endpoints that exist with the option `batches`. */
export function messageBatchEndpoints(batches: MessageBatches): readonly QueryEndpoint[] {
  return [
    defineEndpoint({
      method: 'POST',
      path: '/v1/messages/batches',
      name: 'messages.batches.create',
      limited: true,
      async answer(query) {
        const { exchange, sizes } = query
        const body = await readJson(exchange, sizes)
        const unknown = body.names().find((name) => name !== 'requests')
        if (unknown !== undefined) {
          const message = `"${unknown.slice(0, 64)}" is not supported. Send "requests" alone.`
          throw refusedField(message, unknown.slice(0, 64))
        }
        const requests = givenRequests(body.get('requests'))
        const digest = await bodyDigest(body)
        const idempotencyKey = idempotencyKeyOf(exchange)
        return shown(query, await batches.create(query, { requests, digest, idempotencyKey }))
      },
    }),
    defineEndpoint({
      method: 'GET',
      path: '/v1/messages/batches',
      name: 'messages.batches.list',
      answer: (query) => listBatches(query, batches),
    }),
    defineEndpoint({
      method: 'GET',
      path: '/v1/messages/batches/*',
      name: 'messages.batches.retrieve',
      answer: async (query) => shown(query, await batches.find(query.caller.account, batchIdIn(query))),
    }),
    defineEndpoint({
      method: 'POST',
      path: '/v1/messages/batches/*/cancel',
      name: 'messages.batches.cancel',
      answer: async (query) => shown(query, await batches.cancel(query.caller.account, batchIdIn(query))),
    }),
    defineEndpoint({
      method: 'DELETE',
      path: '/v1/messages/batches/*',
      name: 'messages.batches.delete',
      async answer(query) {
        const id = batchIdIn(query)
        await batches.remove(query.caller.account, id)
        return jsonReply({ id, type: 'message_batch_deleted' })
      },
    }),
    defineEndpoint({
      method: 'GET',
      path: '/v1/messages/batches/*/results',
      name: 'messages.batches.results',
      async answer(query) {
        const { caller, exchange, services } = query
        const { signal } = exchange
        return batches.results(caller.account, batchIdIn(query), { signal, stallMs: services.stallMs })
      },
    }),
  ]
}

async function listBatches(query: Query, batches: MessageBatches): Promise<Reply> {
  const { caller, exchange } = query
  const search = queryOf(exchange.target)
  const limit = limitIn(search, 20, 1_000)
  const before = placeIn(search, 'before_id', 'batch')
  const after = placeIn(search, 'after_id', 'batch')
  const asked = { limit, order: before === undefined ? 'desc' : 'asc', after: before ?? after } as const
  const { page, hasMore } = await pageOf((options) => batches.list(caller.account, options), asked)
  if (before !== undefined) page.reverse()
  return jsonReply({
    data: page.map((batch) => shape(query, batch)),
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  })
}

function shown(query: Query, batch: StoredBatch): Reply {
  query.concerns(batch.data.attempt)
  return jsonReply(shape(query, batch))
}

function shape({ services }: Query, { id, createdAt, data }: StoredBatch): object {
  const { state, counts, cancelledAt, endedAt = createdAt } = data
  const isOver = state === 'ended'
  const { processing, succeeded, errored, canceled, expired } = counts
  const { size } = data
  return {
    id,
    type: 'message_batch',
    processing_status: isOver ? 'ended' : cancelledAt === undefined ? 'in_progress' : 'canceling',
    // Until all are charged, the vendor's counts are not final.
    request_counts: isOver ? { processing, succeeded, errored, canceled, expired } : countsOf(size, 'processing'),
    created_at: timeOf(createdAt),
    expires_at: timeOf(createdAt + vendorMs),
    ended_at: isOver ? timeOf(endedAt) : null,
    cancel_initiated_at: cancelledAt === undefined ? null : timeOf(cancelledAt),
    archived_at: null,
    // Relative to the client's base URL, if the gateway's own is not known.
    results_url: isOver ? `${services.publicUrl}/v1/messages/batches/${id}/results` : null,
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
