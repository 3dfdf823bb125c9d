/** Batches of files, as the steps of all batches see them. */
import type { Model } from '../../../models/contract.ts'
import type { Files } from '../../files/files.ts'
import { countsOf, vendorMs, type BatchTask, type FileBatch, type StoredBatch } from '../batch-task.ts'
import type { BatchKind, LineResult, ResultReader } from '../services.ts'
import { AnswerReader, type FileResult } from './answer.ts'
import { OutputFile } from './output-file.ts'
import { planName, planOf, requestsName, type FileLine } from './plan.ts'

/** Milliseconds for a submission: the whole file is uploaded to the vendor. */
const startMs = 300_000

export function fileKind(files: Files): BatchKind {
  const { content } = files
  return {
    startMs,
    jobs: ({ fileBatches }) => fileBatches,
    lines: (batch) => planOf(content, batch),
    async submit({ fileBatches }, batch, signal) {
      const { attempt: token, file } = batch.data
      if (fileBatches === undefined || file === undefined) throw new TypeError('the provider has no batches')
      const lines = await content.get(requestsName(batch))
      return fileBatches.create({ token, endpoint: file.endpoint, bytes: file.bytes, lines, signal })
    },
    accepted: (batch) => content.delete(requestsName(batch)),
    reader: (batch, lines, models) => new FileResults(files, batch, lines as readonly FileLine[], models[0] as Model),
    async ended(batch) {
      await content.delete(requestsName(batch))
      await content.delete(planName(batch))
    },
    deletesAtEnd: true,
  }
}

/** Reads the results of a batch and writes its files. After a crash it begins again, and the files are those of the last time. */
class FileResults implements ResultReader {
  readonly #files: Files
  readonly #batch: StoredBatch
  readonly #answers: AnswerReader
  readonly #outputs = new Map<'output' | 'errors', OutputFile>()
  readonly #counts = { ...countsOf(0, 'processing') }
  readonly #usage = { input: 0, cached: 0, output: 0, reasoning: 0 }

  constructor(files: Files, batch: StoredBatch, lines: readonly FileLine[], model: Model) {
    this.#files = files
    this.#batch = batch
    this.#answers = new AnswerReader(batch, lines, model)
  }

  read(line: Uint8Array): Promise<FileResult | undefined> {
    return this.#answers.read(line)
  }

  missing(index: number): FileResult {
    const { cancelledAt, endedAt = 0 } = this.#batch.data
    const isLate = endedAt >= this.#batch.createdAt + vendorMs
    return this.#answers.unmade(index, cancelledAt !== undefined ? 'canceled' : isLate ? 'expired' : 'errored')
  }

  async keep(results: readonly LineResult[]): Promise<void> {
    for (const { outcome, text, receipt } of results as readonly FileResult[]) {
      this.#counts[outcome]++
      const { usage } = receipt
      if (outcome === 'succeeded') {
        this.#usage.input += usage.prompt_tokens
        this.#usage.cached += usage.prompt_tokens_details?.cached_tokens ?? 0
        this.#usage.output += usage.completion_tokens
        this.#usage.reasoning += usage.completion_tokens_details?.reasoning_tokens ?? 0
      }
      await this.#outputOf(outcome === 'succeeded' ? 'output' : 'errors').write(`${text}\n`)
    }
  }

  async end(): Promise<Partial<BatchTask>> {
    const made: Partial<Record<'output' | 'errors', string>> = {}
    for (const [kind, file] of this.#outputs) made[kind] = await file.end()
    return { counts: this.#counts, file: { ...(this.#batch.data.file as FileBatch), ...made, usage: this.#usage } }
  }

  stop(): void {
    for (const file of this.#outputs.values()) file.stop()
  }

  #outputOf(kind: 'output' | 'errors'): OutputFile {
    let file = this.#outputs.get(kind)
    if (file === undefined) this.#outputs.set(kind, (file = new OutputFile(this.#files, this.#batch, kind)))
    return file
  }
}
