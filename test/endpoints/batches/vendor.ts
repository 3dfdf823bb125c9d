/** A vendor with Anthropic's Message Batches, whose batches end when the test says so. */
import { scriptedVendor, type ScriptedVendor, type VendorRequest } from '../../../src/testing/vendor.ts'

export interface VendorBatch {
  readonly id: string
  readonly createdAt: number
  readonly requests: readonly { readonly custom_id: string; readonly params: Record<string, unknown> }[]
  status: 'in_progress' | 'canceling' | 'ended'
  deleted: boolean
}

export type Result = { readonly type: string } & Record<string, unknown>

export interface BatchVendor extends ScriptedVendor {
  readonly batches: VendorBatch[]
  /** The result of a request. Default: a message of 10 and 20 tokens. */
  resultOf: (params: Record<string, unknown>) => Result
  /** Called before each response; may delay it, or reject to break it off. */
  before: (request: VendorRequest, made: VendorBatch | undefined) => void | Promise<void>
  end(): void
}

export const succeeded = ({ model }: Record<string, unknown>, more: object = {}): Result => ({
  type: 'succeeded',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 20, service_tier: 'batch' },
    ...more,
  },
})

export async function batchVendor(clock: () => number = Date.now): Promise<BatchVendor> {
  const batches: VendorBatch[] = []
  const shape = ({ id, createdAt, requests, status }: VendorBatch) => {
    const isOver = status === 'ended'
    const of = (type: string) => requests.filter(({ params }) => isOver && vendor.resultOf(params).type === type).length
    return {
      id,
      type: 'message_batch',
      processing_status: status,
      created_at: new Date(createdAt).toISOString(),
      request_counts: {
        processing: isOver ? 0 : requests.length,
        succeeded: of('succeeded'),
        errored: of('errored'),
        canceled: of('canceled'),
        expired: of('expired'),
      },
    }
  }
  const server = await scriptedVendor(async (request, response) => {
    const { method, url, json } = request
    const answer = (body: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const [, id = '', step] = /^\/v1\/messages\/batches\/([^/?]+)(?:\/(\w+))?/.exec(url) ?? []
    const batch = batches.find((each) => each.id === id && !each.deleted)
    if (method === 'POST' && id === '') {
      const { requests } = json as Pick<VendorBatch, 'requests'>
      const made: VendorBatch = {
        id: `msgbatch_vendor_${batches.length}`,
        createdAt: clock(),
        requests,
        status: 'in_progress',
        deleted: false,
      }
      batches.unshift(made)
      await vendor.before(request, made)
      return void answer(shape(made))
    }
    await vendor.before(request, undefined)
    if (id === '') {
      const data = batches.filter((each) => !each.deleted).map(shape)
      return void answer({ data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id })
    }
    if (batch === undefined)
      return void answer({ type: 'error', error: { type: 'not_found_error', message: 'no' } }, 404)
    if (step === 'cancel' && batch.status === 'ended')
      return void answer({ type: 'error', error: { type: 'invalid_request_error', message: 'no' } }, 400)
    if (step === 'cancel') batch.status = 'canceling'
    if (method === 'DELETE') batch.deleted = true
    if (step !== 'results') return void answer(shape(batch))
    response.writeHead(200, { 'content-type': 'application/x-jsonl' })
    // In another order than that of the requests.
    for (const { custom_id, params } of batch.requests.toReversed()) {
      response.write(`${JSON.stringify({ custom_id, result: vendor.resultOf(params) })}\n`)
    }
    response.end()
  })
  const vendor: BatchVendor = Object.assign(server, {
    batches,
    resultOf: (params: Record<string, unknown>) => succeeded(params),
    before: () => undefined,
    end() {
      for (const batch of batches) batch.status = 'ended'
    },
  })
  return vendor
}
