/** Batches of files at vendors that have OpenAI's API for them. Sources: the API references of OpenAI, Azure and Groq. */
import { formBody } from '../../http/form-body.ts'
import type { Form } from '../../http/form.ts'
import { linesOf } from '../../http/lines.ts'
import { countOf, fieldsOf, numberOf, stringOf, type Fields } from '../../wire/json.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import type {
  BatchContext,
  BatchStatus,
  BatchSubmission,
  FileBatchCall,
  FileBatchProvider,
  RelayedRequest,
  RelayedResponse,
} from '../batches.ts'
import { jsonBody, type Client, type VendorRequest } from '../client.ts'
import type { Provider } from '../contract.ts'
import { ProviderError, unreadable } from '../failure.ts'
import type { Transfer } from '../transfer.ts'
import { requireFound } from '../videos/content.ts'

/** By how much the clocks of vendor and gateway may differ, in milliseconds. */
const clockMs = 300_000
/** Maximum size of a batch, a file or a page of a list, in bytes. */
const answerBytes = 1024 * 1024
/** The name in a batch's metadata by which it is found. */
const tokenName = 'modelhatch'

/** The batches of a vendor. `through`: see `FileBatchProvider`. */
export function fileBatches(
  client: Client,
  endpoints: readonly string[],
  through: (relay: (request: RelayedRequest) => RelayedResponse) => Provider,
): FileBatchProvider<Provider> {
  const ask = async (request: Omit<VendorRequest, 'signal'>, { signal }: BatchContext): Promise<Transfer> => {
    const transfer = await client.send({ method: 'GET', ...request, signal })
    // What is created has no id that could be unknown.
    if (request.body === undefined) requireFound(transfer)
    await requireSuccess(transfer)
    return transfer
  }
  const read = async (request: Omit<VendorRequest, 'signal'>, context: BatchContext): Promise<Fields> =>
    fieldsOf((await readJsonObject(await ask(request, context), answerBytes)).value)
  const batchOf = (id: string, context: BatchContext) => read({ path: `/batches/${encodeURIComponent(id)}` }, context)
  const upload = async ({ token, lines, bytes: size, ...context }: FileBatchCall): Promise<string> => {
    const { contentType, length, bytes } = await formBody(uploadOf(`${token}.jsonl`, lines, size))
    const headers = { 'content-type': contentType, ...(length !== undefined && { 'content-length': String(length) }) }
    return idIn(await read({ method: 'POST', path: '/files', body: bytes, headers }, context), 'file')
  }

  return {
    endpoints,
    through,
    async create(call) {
      const { endpoint, token, signal } = call
      const input = await upload(call)
      const batch = { input_file_id: input, endpoint, completion_window: '24h', metadata: { [tokenName]: token } }
      const body = Buffer.from(JSON.stringify(batch))
      return idIn(await read({ method: 'POST', path: '/batches', body, headers: jsonBody }, { signal }), 'batch')
    },
    async lookup({ token, since }: BatchSubmission, context) {
      let after = ''
      for (;;) {
        const { data, has_more: more } = await read({ path: `/batches?limit=100${after}` }, context)
        const page = Array.isArray(data) ? data.map(fieldsOf) : []
        const found = page.find(({ metadata }) => fieldsOf(metadata)[tokenName] === token)
        if (found !== undefined) return idIn(found, 'batch')
        const { id, created_at: created } = page.at(-1) ?? {}
        if (more !== true || typeof id !== 'string' || !((numberOf(created) ?? 0) * 1_000 >= since - clockMs))
          return undefined
        after = `&after=${encodeURIComponent(id)}`
      }
    },
    async retrieve(id, context) {
      return statusOf(await batchOf(id, context))
    },
    async cancel(id, context) {
      try {
        await read({ method: 'POST', path: `/batches/${encodeURIComponent(id)}/cancel` }, context)
      } catch (error) {
        // It has ended already.
        if (!(error instanceof ProviderError && (error.vendorStatus === 400 || error.vendorStatus === 409))) throw error
      }
    },
    async *results(id, context) {
      const { output_file_id: output, error_file_id: errors } = await batchOf(id, context)
      for (const file of [output, errors]) {
        if (typeof file !== 'string' || file === '') continue
        const path = `/files/${encodeURIComponent(file)}/content`
        yield* linesOf(await ask({ path, maxBytes: Infinity }, context))
      }
    },
    /** A batch stays; its files are what takes room. */
    async delete(id, context) {
      const { input_file_id: input, output_file_id: output, error_file_id: errors } = await batchOf(id, context)
      for (const file of [input, output, errors]) {
        const name = stringOf(file)
        if (name) await read({ method: 'DELETE', path: `/files/${encodeURIComponent(name)}` }, context)
      }
    },
  }
}

function idIn({ id }: Fields, what: string): string {
  if (typeof id === 'string' && id !== '') return id
  throw unreadable(`the vendor's response has no id of a ${what}`)
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
