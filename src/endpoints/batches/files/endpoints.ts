/** Batches of files. Source: OpenAI's API reference, Batch. */
import * as z from 'zod'
import { refusedField, refusedValue } from '../../../errors.ts'
import { jsonReply } from '../../../http/answers.ts'
import { readJson } from '../../../http/body.ts'
import type { Reply } from '../../../http/exchange.ts'
import { idempotencyKeyOf } from '../../../http/idempotency-key.ts'
import { queryOf } from '../../../http/target.ts'
import { check } from '../../check.ts'
import { bodyDigest } from '../../body-digest.ts'
import { defineEndpoint } from '../../define.ts'
import type { Query, QueryEndpoint } from '../../endpoint.ts'
import { isFileId, noSuchFile } from '../../files/files.ts'
import type { StoredBatch } from '../batch-task.ts'
import { limitIn, pageOf, placeIn } from '../../paging.ts'
import { batchIdIn } from '../batches.ts'
import { batchEndpoint, batchPaths } from './call-endpoints.ts'
import type { FileBatches } from './file-batches.ts'
import { shape } from './shape.ts'
import { lazy } from '../../../records/lazy.ts'

const schema = lazy(() =>
  z.looseObject({
    input_file_id: z.string().min(1),
    endpoint: z.string(),
    completion_window: z.literal('24h'),
    metadata: z
      .record(z.string().max(64), z.string().max(512))
      .refine((given) => Object.keys(given).length <= 16, 'must have at most 16 entries')
      .nullish(),
  }),
)

const known = new Set(['input_file_id', 'endpoint', 'completion_window', 'metadata'])

/** The endpoints that exist with `batches.files`. */
export function fileBatchEndpoints(batches: FileBatches): readonly QueryEndpoint[] {
  return [
    defineEndpoint({
      method: 'POST',
      path: '/v1/batches',
      name: 'batches.create',
      limited: true,
      answer: (query) => create(query, batches),
    }),
    defineEndpoint({
      method: 'GET',
      path: '/v1/batches',
      name: 'batches.list',
      answer: (query) => list(query, batches),
    }),
    defineEndpoint({
      method: 'GET',
      path: '/v1/batches/*',
      name: 'batches.retrieve',
      answer: async (query) => shown(query, await batches.find(query.caller.account, batchIdIn(query))),
    }),
    defineEndpoint({
      method: 'POST',
      path: '/v1/batches/*/cancel',
      name: 'batches.cancel',
      answer: async (query) => shown(query, await batches.cancel(query.caller.account, batchIdIn(query))),
    }),
  ]
}

async function create(query: Query, batches: FileBatches): Promise<Reply> {
  const { exchange, sizes } = query
  const body = await readJson(exchange, sizes)
  check(schema(), body)
  const unknown = body.names().find((name) => !known.has(name))
  if (unknown !== undefined) {
    const param = unknown.slice(0, 64)
    const message = `"${param}" is not supported. The files of a batch are kept for 30 days.`
    throw refusedField(message, param)
  }
  const endpoint = batchEndpoint(body.get('endpoint'))
  if (endpoint === undefined) {
    const message = `"endpoint" must be one of: ${batchPaths.join(', ')}.`
    throw refusedValue(message, 'endpoint')
  }
  const input = body.get('input_file_id') as string
  if (!isFileId(input)) throw noSuchFile()
  const metadata = (body.get('metadata') ?? undefined) as Record<string, string> | undefined
  const digest = await bodyDigest(body)
  const idempotencyKey = idempotencyKeyOf(exchange)
  return shown(query, await batches.create(query, { endpoint, input, metadata, digest, idempotencyKey }))
}

async function list({ caller, exchange }: Query, batches: FileBatches): Promise<Reply> {
  const search = queryOf(exchange.target)
  const asked = { limit: limitIn(search, 20, 100), order: 'desc', after: placeIn(search, 'after', 'batch') } as const
  const { page, hasMore } = await pageOf(
    (options) => batches.list(caller.account, options),
    asked,
    ({ data }) => data.state !== 'preparing',
  )
  return jsonReply({
    object: 'list',
    data: page.map(shape),
    ...(page[0] && { first_id: page[0].id, last_id: page.at(-1)?.id }),
    has_more: hasMore,
  })
}

function shown(query: Query, batch: StoredBatch): Reply {
  query.concerns(batch.data.attempt)
  return jsonReply(shape(batch))
}
