/** Batches of files at vendors that have OpenAI's API for them. Sources: the API references of OpenAI, Azure and Groq. */
import { formBody } from '../../http/form-body.ts'
import type { Form } from '../../http/form.ts'
import { countOf, fieldsOf, numberOf, stringOf, type Fields } from '../../wire/json.ts'
import { BatchClient } from '../batch-client.ts'
import type { BatchStatus, FileBatchProvider, RelayedRequest, RelayedResponse } from '../batches.ts'
import { jsonBody, type Client } from '../client.ts'
import type { Provider } from '../contract.ts'

/** The name in a batch's metadata by which it is found. */
const tokenName = 'modelhatch'

const path = '/batches'
const timeOf = ({ created_at: created }: Fields) => (numberOf(created) ?? 0) * 1_000

/** The batches of a vendor. `through`: see `FileBatchProvider`. */
export function fileBatches(
  client: Client,
  endpoints: readonly string[],
  through: (relay: (request: RelayedRequest) => RelayedResponse) => Provider,
): FileBatchProvider<Provider> {
  const vendor = new BatchClient(client, { path, after: 'after', timeOf })
  return {
    endpoints,
    through,
    async create({ endpoint, token, lines, bytes: size, ...context }) {
      const { contentType, length, bytes } = await formBody(uploadOf(`${token}.jsonl`, lines, size))
      const headers = { 'content-type': contentType, ...(length !== undefined && { 'content-length': String(length) }) }
      const input = await vendor.create({ path: '/files', body: bytes, headers }, context)
      const batch = { input_file_id: input, endpoint, completion_window: '24h', metadata: { [tokenName]: token } }
      return vendor.create({ path, body: Buffer.from(JSON.stringify(batch)), headers: jsonBody }, context)
    },
    async lookup({ token, since }, context) {
      for await (const { id, metadata } of vendor.madeSince(since, context)) {
        if (fieldsOf(metadata)[tokenName] === token && typeof id === 'string') return id
      }
      return undefined
    },
    async retrieve(id, context) {
      return statusOf(await vendor.read({ path: vendor.pathOf(id) }, context))
    },
    async cancel(id, context) {
      await vendor.read({ method: 'POST', path: `${vendor.pathOf(id)}/cancel` }, context)
    },
    async *results(id, context) {
      const { output_file_id: output, error_file_id: errors } = await vendor.read({ path: vendor.pathOf(id) }, context)
      for (const file of [output, errors].map(stringOf)) {
        if (file) yield* vendor.lines(`/files/${encodeURIComponent(file)}/content`, context)
      }
    },
    /** A batch stays; its files are what takes room. */
    async delete(id, context) {
      const {
        input_file_id: input,
        output_file_id: output,
        error_file_id: errors,
      } = await vendor.read({ path: vendor.pathOf(id) }, context)
      for (const file of [input, output, errors].map(stringOf)) {
        if (file) await vendor.read({ method: 'DELETE', path: `/files/${encodeURIComponent(file)}` }, context)
      }
    },
  }
}

function uploadOf(filename: string, bytes: AsyncIterable<Uint8Array>, size: number): Form {
  return {
    kept: true,
    async *parts() {
      yield { name: 'purpose', value: 'batch' }
      yield { name: 'file', filename, type: 'application/jsonl', size, bytes }
    },
  }
}

const over: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])

function statusOf({ status, request_counts: given }: Fields): BatchStatus {
  const counts = fieldsOf(given)
  const of = (name: string) => countOf(counts[name]) ?? 0
  const [succeeded, errored] = [of('completed'), of('failed')]
  const processing = Math.max(0, of('total') - succeeded - errored)
  return {
    ended: over.has(status),
    ...(status === 'failed' && { failed: true }),
    counts: { processing, succeeded, errored, canceled: 0, expired: 0 },
  }
}
