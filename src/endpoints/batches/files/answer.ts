/** The answers in the results of a batch of files: read as if they were sent alone, and written for the client. */
import { GatewayError } from '../../../errors.ts'
import type { Reply, Sink } from '../../../http/exchange.ts'
import type { Model } from '../../../models/contract.ts'
import type { RelayedResponse } from '../../../providers/batches.ts'
import type { Provider } from '../../../providers/contract.ts'
import { ProviderError } from '../../../providers/failure.ts'
import { callerOf } from '../../../tasks/owner.ts'
import { fieldsOf, isRecord, numberOf, stringOf, type Fields } from '../../../wire/json.ts'
import type { Context } from '../../endpoint.ts'
import { callAlone } from '../alone.ts'
import { indexOf, lineId, type StoredBatch } from '../batch-task.ts'
import { measured, unmadeReceipt } from '../measured.ts'
import type { LineResult } from '../services.ts'
import { batchEndpoint, orderOf, type AnyCallEndpoint } from './call-endpoints.ts'
import type { FileLine } from './plan.ts'

/** How a request ended. */
export interface FileResult extends LineResult {
  readonly outcome: 'succeeded' | 'errored' | 'canceled' | 'expired'
  /** The line for the client, without the newline. */
  readonly text: string
}

const unmade = {
  expired: ['batch_expired', 'This request could not be executed before the completion window expired.'],
  canceled: ['batch_cancelled', 'This request was cancelled before it was executed.'],
  errored: ['batch_error', 'The vendor could not execute this request.'],
} as const

/** Reads the results of one batch, one after the other. */
export class AnswerReader {
  readonly #batch: StoredBatch
  readonly #lines: readonly FileLine[]
  readonly #model: Model
  readonly #endpoint: AnyCallEndpoint
  readonly #provider: Provider | undefined
  #response: RelayedResponse | undefined

  constructor(batch: StoredBatch, lines: readonly FileLine[], model: Model) {
    this.#batch = batch
    this.#lines = lines
    this.#model = model
    this.#endpoint = batchEndpoint(batch.data.file?.endpoint) as AnyCallEndpoint
    this.#provider = model.deployments[0]?.provider.fileBatches?.through(() => this.#response as RelayedResponse)
  }

  /** The result in a line of the vendor; undefined if it belongs to no request of the batch. */
  async read(text: Uint8Array): Promise<FileResult | undefined> {
    const { custom_id: id, response, error } = fieldsOf(JSON.parse(Buffer.from(text).toString('utf8')))
    const index = indexOf(this.#batch.data, this.#lines, id)
    if (index === undefined) return undefined
    if (isRecord(response)) return this.#answered(index, response)
    const code = stringOf(fieldsOf(error)['code'])
    return this.unmade(
      index,
      code === 'batch_expired' ? 'expired' : code === 'batch_cancelled' ? 'canceled' : 'errored',
    )
  }

  /** The result of a request that was not made. */
  unmade(index: number, outcome: keyof typeof unmade): FileResult {
    const [code, message] = unmade[outcome]
    const receipt = unmadeReceipt(this.#batch, this.#lines[index] as FileLine, this.#endpoint.name, outcome)
    return { index, outcome, receipt, text: this.#line(index, 'null', JSON.stringify({ code, message })) }
  }

  async #answered(index: number, { status_code: code, body }: Fields): Promise<FileResult> {
    const batch = this.#batch
    const model = this.#model
    const line = this.#lines[index] as FileLine
    const id = lineId(batch.data, line.id)
    const at = batch.createdAt
    const { meter, receipt } = measured(batch, line, this.#endpoint.name, line.tier)
    const name = batch.data.models[0]?.name ?? ''
    const order = orderOf({ model: name, promptTokens: line.prompt, at, fields: line.fields })
    const [deployment] = model.deployments
    if (deployment === undefined || this.#provider === undefined) throw new TypeError('the model has no batches')
    const caller = callerOf(batch)
    const call = callAlone(this.#endpoint.name, { id, order, model, caller }, deployment, meter)
    const context = { id, order, model, meter, startedAt: at } as unknown as Context<unknown>
    this.#response = { status: numberOf(code) ?? 200, body: Buffer.from(JSON.stringify(body ?? null)) }
    let status = 200
    let text: string
    try {
      text = textOf(this.#endpoint.whole(await this.#endpoint.ask(this.#provider, call, context), context))
      meter.end('completed')
    } catch (thrown) {
      const error = GatewayError.from(thrown)
      if (thrown instanceof ProviderError && thrown.billed !== undefined) meter.bill(thrown.billed)
      else meter.attemptFailed()
      meter.end('failed', error)
      status = error.status
      text = JSON.stringify(error)
    }
    const response = `{"status_code":${status},"request_id":${JSON.stringify(id)},"body":${text}}`
    const outcome = status === 200 ? 'succeeded' : 'errored'
    return { index, outcome, receipt: receipt(), text: this.#line(index, response, 'null') }
  }

  #line(index: number, response: string, error: string): string {
    const { custom } = this.#lines[index] as FileLine
    const id = this.#batch.data.attempt.replace('req_', 'batch_req_') + index
    return `{"id":${JSON.stringify(id)},"custom_id":${JSON.stringify(custom)},"response":${response},"error":${error}}`
  }
}

/** The body of a reply that is there as a whole. */
function textOf({ body }: Reply): string {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8')
  const pieces: Uint8Array[] = []
  const sink: Sink = {
    write: (piece) => pieces.push(Buffer.from(piece)) > 0,
    drained: async () => undefined,
    end() {},
    destroy() {},
    closed: false,
  }
  body.start(sink)
  return Buffer.concat(pieces).toString('utf8')
}
