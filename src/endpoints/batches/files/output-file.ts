import { createHash } from 'node:crypto'
import { FileWriter } from '../../../tasks/files/stored-content.ts'
import type { Files } from '../../files/files.ts'
import type { StoredBatch } from '../batch-task.ts'

/** A file that a batch makes. Its id is that of the batch, so that another attempt replaces it. */
export class OutputFile {
  readonly id: string
  readonly #writer: FileWriter

  constructor(files: Files, { account, id: batch }: StoredBatch, kind: 'output' | 'errors') {
    const text = JSON.stringify([account, batch, kind])
    const id = `file-${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`
    this.id = id
    const filename = `${batch}_${kind === 'output' ? 'output' : 'error'}.jsonl`
    this.#writer = new FileWriter(
      async (bytes) => void (await files.add({ account, id, purpose: 'batch_output', filename }, bytes)),
    )
  }

  write(text: string): Promise<void> {
    return this.#writer.write(text)
  }

  /** Resolves to its id once all of it is stored. */
  async end(): Promise<string> {
    await this.#writer.end()
    return this.id
  }

  stop(): void {
    this.#writer.stop()
  }
}
