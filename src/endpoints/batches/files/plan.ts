/** What is kept of the requests of a batch of files until they are charged: a file beside that with the requests. */
import { linesOf } from '../../../http/lines.ts'
import type { StoredContent } from '../../../tasks/files/stored-content.ts'
import type { BatchLine, StoredBatch } from '../batch-task.ts'

/** A request of a batch of files. Its id is its number. */
export interface FileLine extends BatchLine {
  readonly custom: string
  /** Estimated number of input tokens. */
  readonly prompt: number
  /** The service tier that it asks for. */
  readonly tier?: string
  /** The fields that the answer depends on. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The file with the requests as the vendor gets them. */
export function requestsName({ data }: Pick<StoredBatch, 'data'>): string {
  return `${data.attempt}-requests`
}

/** The file with a `FileLine` for each of them. */
export function planName({ data }: Pick<StoredBatch, 'data'>): string {
  return `${data.attempt}-lines`
}

/** The requests of a batch; none while it is prepared. */
export async function planOf(content: StoredContent, batch: StoredBatch): Promise<readonly FileLine[]> {
  if (batch.data.size === 0) return []
  const lines: FileLine[] = []
  for await (const line of linesOf(await content.get(planName(batch)))) {
    lines.push(JSON.parse(line.toString('utf8')) as FileLine)
  }
  return lines
}
