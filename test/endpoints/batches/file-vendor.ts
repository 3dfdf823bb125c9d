/** A vendor with OpenAI's files and batches, whose batches end when the test says so. */
import { scriptedVendor, type ScriptedVendor, type VendorRequest } from '../../../src/testing/vendor.ts'

export interface VendorLine {
  readonly custom_id: string
  readonly method: string
  readonly url: string
  readonly body: Record<string, unknown>
}

export interface VendorBatch {
  readonly id: string
  readonly createdAt: number
  readonly endpoint: string
  readonly input: string
  readonly metadata: unknown
  readonly requests: readonly VendorLine[]
  status: 'validating' | 'in_progress' | 'completed' | 'cancelling' | 'cancelled' | 'expired' | 'failed'
}

export interface FileBatchVendor extends ScriptedVendor {
  /** The newest first. */
  readonly batches: VendorBatch[]
  readonly files: Map<string, string>
  /** How a request ends: the fields of its line beside `custom_id`; undefined: in no line. Default: an answer of 10 and 20 tokens. */
  resultOf: (line: VendorLine) => object | undefined
  /** Called before each response; may delay it, or reject to break it off. */
  before: (request: VendorRequest, made: VendorBatch | undefined) => void | Promise<void>
  end(): void
}

const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }

const bodies: Readonly<Record<string, (body: Record<string, unknown>) => object>> = {
  '/v1/chat/completions': ({ model }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { ...usage, cost: 0.25 },
    service_tier: 'default',
  }),
  '/v1/completions': ({ model }) => ({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model,
    choices: [{ index: 0, text: 'Hi', finish_reason: 'stop', logprobs: null }],
    usage,
  }),
  '/v1/embeddings': ({ model, input }) => ({
    object: 'list',
    model,
    data: [input].flat().map((_, index) => ({ object: 'embedding', index, embedding: [0.5, -1.25] })),
    usage: { prompt_tokens: 10, total_tokens: 10 },
  }),
  '/v1/responses': ({ model }) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model,
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
      },
    ],
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 30,
    },
  }),
}

export function answered({ url, body }: VendorLine, status = 200, answer?: object): object {
  return { id: 'batch_req_vendor', response: { status_code: status, body: answer ?? bodies[url]?.(body) }, error: null }
}

export async function fileBatchVendor(clock: () => number = Date.now): Promise<FileBatchVendor> {
  const batches: VendorBatch[] = []
  const files = new Map<string, string>()
  let uploads = 0
  const succeeds = (result: object) => (result as { response?: { status_code: number } }).response?.status_code === 200
  const linesOf = ({ requests }: VendorBatch, good: boolean) =>
    requests.toReversed().flatMap((line) => {
      const result = vendor.resultOf(line)
      if (result === undefined || succeeds(result) !== good) return []
      return `${JSON.stringify({ custom_id: line.custom_id, ...result })}\n`
    })
  const fileOf = (batch: VendorBatch, good: boolean) => {
    const isOver = ['completed', 'cancelled', 'expired'].includes(batch.status)
    return isOver && linesOf(batch, good).length > 0 ? `${batch.id}-${good ? 'output' : 'errors'}` : null
  }
  const shape = (batch: VendorBatch) => ({
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    input_file_id: batch.input,
    completion_window: '24h',
    status: batch.status,
    metadata: batch.metadata,
    created_at: Math.floor(batch.createdAt / 1_000),
    output_file_id: fileOf(batch, true),
    error_file_id: fileOf(batch, false),
    request_counts: { total: batch.requests.length, completed: linesOf(batch, true).length, failed: 0 },
  })
  const server = await scriptedVendor(async (request, response) => {
    const { method, url, json, body } = request
    const answer = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const missing = () => answer({ error: { message: 'no', code: 'not_found' } }, 404)
    const [, place, id = '', step] = /^\/v1\/(files|batches)(?:\/([^/?]+))?(?:\/(\w+))?/.exec(url) ?? []
    if (place === 'files' && method === 'POST') {
      const text = body.toString('utf8')
      const [, head = '', content = ''] = /filename="([^"]+)"[^]*?\r\n\r\n([^]*?)\r\n--/.exec(text) ?? []
      if (!/name="purpose"\r\n\r\nbatch\r\n/.test(text) || head === '') return void answer({ error: {} }, 400)
      const file = `file-vendor-${uploads++}`
      files.set(file, content)
      await vendor.before(request, undefined)
      return void answer({ id: file, object: 'file', purpose: 'batch' })
    }
    if (place === 'batches' && method === 'POST' && id === '') {
      const { input_file_id: input, endpoint, metadata } = json as Record<string, string>
      const lines = (files.get(input ?? '') ?? '').split('\n').filter((line) => line !== '')
      const made: VendorBatch = {
        id: `batch_vendor_${batches.length}`,
        createdAt: clock(),
        endpoint: endpoint ?? '',
        input: input ?? '',
        metadata,
        requests: lines.map((line) => JSON.parse(line) as VendorLine),
        status: 'in_progress',
      }
      batches.unshift(made)
      await vendor.before(request, made)
      return void answer(shape(made))
    }
    await vendor.before(request, undefined)
    if (place === 'batches' && id === '') return void answer({ data: batches.map(shape), has_more: false })
    if (place === 'batches') {
      const batch = batches.find((each) => each.id === id)
      if (batch === undefined) return void missing()
      if (step === 'cancel' && batch.status !== 'in_progress') return void answer({ error: {} }, 400)
      if (step === 'cancel') batch.status = 'cancelling'
      return void answer(shape(batch))
    }
    if (method === 'DELETE') return void (files.delete(id) ? answer({ id, deleted: true }) : missing())
    const of = batches.find((each) => id.startsWith(`${each.id}-`))
    if (of === undefined) return void missing()
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    for (const line of linesOf(of, id.endsWith('output'))) response.write(line)
    response.end()
  })
  const vendor: FileBatchVendor = Object.assign(server, {
    batches,
    files,
    resultOf: (line: VendorLine): object | undefined => answered(line),
    before: () => undefined,
    end() {
      for (const batch of batches) batch.status = batch.status === 'cancelling' ? 'cancelled' : 'completed'
    },
  })
  return vendor
}
