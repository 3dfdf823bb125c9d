/** The requests in the file of a batch: each is read, checked and sized as if it were sent alone. */
import type { Demand } from '../../../admission/demand.ts'
import { tierIn } from '../../../admission/highest-cost.ts'
import { Meter } from '../../../admission/meter.ts'
import { lengthChanges } from '../../../admission/output-length.ts'
import { invalid, refusedField, refusedValue } from '../../../errors.ts'
import { JsonBody } from '../../../http/json-body.ts'
import { inFileBatches } from '../../../models/batch-model.ts'
import type { Deployment, Model } from '../../../models/contract.ts'
import type { FileBatchProvider } from '../../../providers/batches.ts'
import type { Provider } from '../../../providers/contract.ts'
import type { Context, Order, Query } from '../../endpoint.ts'
import { fittedOrder } from '../../fitted-order.ts'
import { amend } from '../../order.ts'
import { callAlone, exchangeAlone, located } from '../alone.ts'
import { lineId, vendorId } from '../batch-task.ts'
import type { BatchBilling } from '../billing.ts'
import { keptFields, type AnyCallEndpoint } from './call-endpoints.ts'
import type { FileLine } from './plan.ts'

/** A request that can be submitted. */
export interface ReadLine {
  readonly line: FileLine
  readonly demand: Demand
  /** As the vendor gets it, without the newline. */
  readonly pieces: readonly (string | Uint8Array)[]
}

/** What all requests of a batch have in common: its first one decides. */
interface Served {
  readonly name: string
  /** With that deployment alone. */
  readonly model: Model
  readonly deployment: Deployment
  /** The vendor's methods, whose requests are taken instead of being sent. */
  readonly provider: Provider
}

/** Why no answer comes for a request that was taken. */
const taken = new Error('the request was taken for a batch')

/** Reads the requests of one batch. */
export class LineReader {
  readonly #query: Query
  readonly #endpoint: AnyCallEndpoint
  readonly #path: string
  readonly #billing: BatchBilling
  readonly #ids = new Set<string>()
  #served: Served | undefined
  #sent: { readonly path: string; readonly body: Uint8Array } | undefined

  constructor(query: Query, endpoint: AnyCallEndpoint, billing: BatchBilling) {
    this.#query = query
    this.#endpoint = endpoint
    this.#path = String(endpoint.path)
    this.#billing = billing
  }

  /** What serves the batch. Undefined before its first request was read. */
  get served(): Pick<Served, 'name' | 'model' | 'deployment'> | undefined {
    return this.#served
  }

  /** Throws and rejects as the request itself would, with its line in the file. */
  async read(text: Buffer, index: number): Promise<ReadLine> {
    try {
      return await this.#read(text, index)
    } catch (error) {
      throw located(error, `Line ${index + 1} of the file`, (param) => param)
    }
  }

  async #read(text: Buffer, index: number): Promise<ReadLine> {
    const { sizes, caller, services, id: attempt } = this.#query
    const given = JsonBody.fromBytes(text, sizes)
    const custom = this.#customId(given.get('custom_id'))
    if (given.get('method') !== 'POST') throw invalid('"method" must be "POST".', 'method')
    if (given.get('url') !== this.#path) {
      throw invalid(`"url" must be "${this.#path}", the endpoint of the batch.`, 'url')
    }
    const body = given.textOf('body')
    if (body === undefined) throw invalid('Missing required parameter: "body".', 'body')
    const exchange = exchangeAlone(this.#query, this.#path, { state: 'text', text: body })
    const read: Order<unknown> = await this.#endpoint.read(exchange, sizes, {
      caller,
      services,
      now: Date.now,
    })
    this.#refuse(read)
    const served = (this.#served ??= await this.#serve(read.model))
    if (read.model !== served.name) {
      throw refusedValue(
        `All requests of a batch must have the same model, here "${served.name.slice(0, 128)}".`,
        'model',
      )
    }
    const { model, deployment } = served
    const order = fittedOrder(this.#endpoint, read, model)
    await this.#endpoint.fit?.(order, model)
    const demand = this.#billing.demand(lineId({ attempt }, String(index)), caller, this.#endpoint, order, model)
    const written = await this.#written(served, order, demand)
    const { hold, bounds, promptTokens } = demand
    const { price = deployment.price } = model
    const tier = price?.hasServiceTiers === true ? tierIn(order.field) : undefined
    return {
      line: {
        id: String(index),
        m: 0,
        custom,
        ...(hold && { held: String(hold.amount) }),
        out: bounds.length,
        in: body.length,
        prompt: promptTokens,
        ...(tier !== undefined && { tier }),
        fields: keptFields(this.#endpoint, order),
      },
      demand,
      pieces: [
        `{"custom_id":${JSON.stringify(vendorId({ attempt }, index))},"method":"POST","url":"${this.#path}","body":`,
        written,
        '}',
      ],
    }
  }

  #customId(id: unknown): string {
    if (typeof id !== 'string' || id === '' || id.length > 512) {
      throw invalid('"custom_id" must be a text of 1 to 512 characters.', 'custom_id')
    }
    if (this.#ids.has(id)) throw invalid('"custom_id" must be unique within the batch.', 'custom_id')
    this.#ids.add(id)
    return id
  }

  /** Throws a 400 for what needs more than one answer. */
  #refuse({ stream, field }: Order<unknown>): void {
    if (stream) throw refusedValue('The requests of a batch cannot be streamed. Omit "stream".', 'stream')
    if (this.#endpoint.name !== 'responses') return
    if (field('store') === true) {
      throw refusedValue('The responses of a batch are not stored. Omit "store", or set it to false.', 'store')
    }
    for (const name of ['background', 'conversation']) {
      if ((field(name) ?? false) === false) continue
      throw refusedField(`"${name}" is not supported in batches.`, name)
    }
  }

  async #serve(name: string): Promise<Served> {
    const { caller, catalogue, services, id } = this.#query
    const model = inFileBatches(await catalogue.findForTask(name, caller), this.#path)
    // The vendor must not get what inspectors have not seen.
    const isInspected = services.inspect?.(id, this.#endpoint.name, model, caller) !== undefined
    const [deployment] = isInspected ? [] : services.usable(model)
    if (deployment === undefined) {
      throw refusedValue(`The model "${name.slice(0, 128)}" is not available in batches of ${this.#path}.`, 'model')
    }
    const { fileBatches } = deployment.provider
    const provider = (fileBatches as FileBatchProvider<Provider>).through((request) => {
      this.#sent = request
      throw taken
    })
    return { name, model: { ...model, deployments: [deployment] }, deployment, provider }
  }

  /** The body that the vendor would get for the request now. */
  async #written({ model, deployment, provider }: Served, order: Order<unknown>, demand: Demand): Promise<Uint8Array> {
    const { id, caller } = this.#query
    const { lengthFields, name } = this.#endpoint
    const metered = { id, caller, attribution: {}, order, startedAt: 0, elapsedMs: () => 0, deliver() {} }
    const meter = new Meter(name, metered)
    const call = callAlone(name, { id, order, model, caller }, deployment, meter)
    const { cap } = demand
    const bound =
      lengthFields === undefined || cap === undefined ? {} : lengthChanges(order.field, lengthFields[0], cap)
    const context = { id, order, model, meter, startedAt: 0 } as unknown as Context<unknown>
    this.#sent = undefined
    try {
      await this.#endpoint.ask(provider, amend(call, bound), context)
    } catch (error) {
      if (this.#sent === undefined) throw error
    }
    const sent = this.#sent as { readonly path: string; readonly body: Uint8Array } | undefined
    if (sent !== undefined && `/v1${sent.path}` === this.#path) return sent.body
    throw refusedValue(`The vendor of this model has no batches of ${this.#path}.`, 'model')
  }
}
