/** Batches of files: how they are made. */
import type { Demand } from '../../../admission/demand.ts'
import { invalid } from '../../../errors.ts'
import { linesOf } from '../../../http/lines.ts'
import { insertTask, taskId } from '../../../tasks/insert.ts'
import { changed, toRecord } from '../../../tasks/stored.ts'
import type { SweeperOptions } from '../../../tasks/sweeper.ts'
import type { Query } from '../../endpoint.ts'
import type { Files } from '../../files/files.ts'
import { countsOf, lifeMs, type BatchTask, type StoredBatch } from '../batch-task.ts'
import { beginning, Batches, stillPreparing } from '../batches.ts'
import { refuse } from '../finish.ts'
import type { Holding } from '../holding.ts'
import { intentMs, save, type BatchServices } from '../services.ts'
import type { AnyCallEndpoint } from './call-endpoints.ts'
import { LineReader, type ReadLine } from './line.ts'
import { planName, requestsName } from './plan.ts'

/** Requests of one batch, as at OpenAI. */
const mostLines = 50_000
/** Requests that are held at the same time. */
const perGroup = 64
/** Milliseconds for which a process that reads the file of a batch keeps others from it, unless it goes on. */
const leaseMs = 60_000
/** Milliseconds for which a request is held before the batch is stored. */
const unstoredMs = 900_000

export interface GivenFileBatch {
  readonly endpoint: AnyCallEndpoint
  /** The id of the file with its requests. */
  readonly input: string
  readonly metadata: Readonly<Record<string, string>> | undefined
  /** SHA-256 of the request as received. */
  readonly digest: string
  /** A retry with the same key returns the same batch. */
  readonly idempotencyKey: string | undefined
}

/** The batches of files of all accounts. */
export class FileBatches extends Batches {
  readonly #files: Files

  constructor(services: BatchServices, sweeping: SweeperOptions, files: Files) {
    super(services, sweeping)
    this.#files = files
  }

  override start(): void {
    super.start()
    this.#files.start()
  }

  override async close(): Promise<void> {
    await super.close()
    await this.#files.close()
  }

  override async removeAll(account: string): Promise<void> {
    await super.removeAll(account)
    await this.#files.removeAll(account)
  }

  /** Submits a batch. Returns the new one, or the existing one with the same idempotency key. */
  async create(query: Query, given: GivenFileBatch): Promise<StoredBatch> {
    const { account } = query.caller
    const { digest, idempotencyKey, input, endpoint } = given
    const id = taskId('batch_', account, 'batches', idempotencyKey)
    const earlier = idempotencyKey === undefined ? undefined : await this.repeated(query, id, digest)
    if (earlier !== undefined && earlier.data.state !== 'preparing') return earlier
    // Before anything of it is stored.
    const file = await this.#files.find(account, input)
    const begun = await this.#begun(query, given, id)
    if (begun.data.attempt !== query.id) return this.concurrent(query, id, digest)
    this.start()
    return this.submitted(await this.#prepared(query, begun, endpoint, await this.#files.read(file)))
  }

  /** A batch whose requests are read now, by this process alone; or that of a concurrent request with the same key. */
  async #begun(query: Query, { input, metadata, endpoint, digest }: GivenFileBatch, id: string): Promise<StoredBatch> {
    const { store, now } = this.services
    const { account } = query.caller
    const at = await now()
    const begun: StoredBatch = {
      account,
      id,
      version: 0,
      createdAt: at,
      expiresAt: at + lifeMs,
      dueAt: at + leaseMs,
      leasedUntil: at + leaseMs,
      data: {
        ...beginning(query, digest),
        state: 'preparing',
        faults: 0,
        size: 0,
        provider: '',
        models: [],
        counted: [],
        multiplier: '0',
        counts: countsOf(0, 'processing'),
        file: { endpoint: String(endpoint.path), input, bytes: 0, ...(metadata && { metadata }) },
      },
    }
    const stored = await insertTask(this.services, begun)
    if (stored.data.state !== 'preparing' || stored.data.attempt === query.id) return stored
    if (stored.leasedUntil > at) throw stillPreparing()
    // The process that read it has died, before the client was told of the batch.
    const taken = { ...begun, version: stored.version + 1 }
    if (!(await store.replace(toRecord(taken)))) throw stillPreparing()
    return taken
  }

  /** The intent of a batch, stored with what its requests hold. Rejects for the first request that is at fault. */
  async #prepared(
    query: Query,
    begun: StoredBatch,
    endpoint: AnyCallEndpoint,
    input: AsyncIterable<Uint8Array>,
  ): Promise<StoredBatch> {
    const { content } = this.#files
    const preparation = new Preparation(query, endpoint, this.services)
    const requests = content.writer(requestsName(begun))
    const plan = content.writer(planName(begun))
    let current = begun
    try {
      for await (const text of linesOf(input, query.sizes.jsonBytes)) {
        const { pieces } = await preparation.add(text)
        await requests.write(...pieces, '\n')
        const held = await preparation.held(perGroup)
        if (held.length === 0) continue
        for (const line of held) await plan.write(`${JSON.stringify(line)}\n`)
        current = await this.#goesOn(current)
      }
      for (const line of await preparation.held(1)) await plan.write(`${JSON.stringify(line)}\n`)
      const known = preparation.end()
      await requests.end()
      await plan.end()
      const due = (await this.services.now()) + intentMs(this.services)
      const file = { ...(begun.data.file as NonNullable<BatchTask['file']>), bytes: requests.bytes }
      const next = changed(current, { ...known, file, state: 'submitting' }, { dueAt: due, leasedUntil: due })
      const saved = await save(this.services, next)
      if (!saved.won) throw stillPreparing()
      return saved.task
    } catch (error) {
      requests.stop()
      plan.stop()
      const left = await refuse(this.services, current)
      // A change that fails may have been stored.
      if (left.data.state === 'submitting' && left.version === current.version + 1) await refuse(this.services, left)
      await preparation.release()
      throw error
    }
  }

  /** Keeps other processes from a batch whose requests are read. Throws if one has taken it. */
  async #goesOn(batch: StoredBatch): Promise<StoredBatch> {
    const now = await this.services.now()
    if (batch.leasedUntil - now > leaseMs / 2) return batch
    const lease = now + leaseMs
    const saved = await save(this.services, changed(batch, {}, { dueAt: lease, leasedUntil: lease }))
    if (!saved.won) throw stillPreparing()
    return saved.task
  }
}

/** Reads the requests of a batch and holds what they cost, a group at a time. */
class Preparation {
  readonly #query: Query
  readonly #reader: LineReader
  readonly #services: BatchServices
  #holding: Holding | undefined
  #group: ReadLine[] = []
  #size = 0
  #first: Demand | undefined

  constructor(query: Query, endpoint: AnyCallEndpoint, services: BatchServices) {
    this.#query = query
    this.#services = services
    this.#reader = new LineReader(query, endpoint, services.billing)
  }

  async add(text: Buffer): Promise<ReadLine> {
    if (this.#size === mostLines) throw invalid(`The file has more than ${mostLines} requests.`, 'input_file_id')
    const read = await this.#reader.read(text, this.#size)
    if (this.#size++ === 0 && this.#reader.served !== undefined) {
      this.#first = read.demand
      await this.#query.admit(this.#reader.served.model)
    }
    this.#group.push(read)
    return read
  }

  /** Holds the requests that were read, once there are `least` of them, and returns them; otherwise none. */
  async held(least: number): Promise<readonly ReadLine['line'][]> {
    const group = this.#group
    if (group.length < least) return []
    this.#group = []
    const { billing } = this.#services
    this.#holding ??= billing.holding(this.#query.caller.account, unstoredMs + intentMs(this.#services))
    const held = await this.#holding.add(
      group.map(({ line }) => line),
      group.map(({ demand }) => demand),
    )
    return held as ReadLine['line'][]
  }

  /** What the batch is. Throws a 400 if it has no requests. */
  end(): Pick<BatchTask, 'size' | 'provider' | 'models' | 'counted' | 'multiplier' | 'counts'> {
    const { served } = this.#reader
    if (served === undefined) throw invalid('The file has no requests.', 'input_file_id')
    const { name, model, deployment } = served
    return {
      size: this.#size,
      provider: deployment.provider.name,
      models: [{ name, id: model.id, providerModel: deployment.model }],
      counted: this.#holding?.counted ?? [],
      multiplier: String(this.#first?.multiplier ?? 0),
      counts: countsOf(this.#size, 'processing'),
    }
  }

  async release(): Promise<void> {
    await this.#holding?.release()
  }
}
