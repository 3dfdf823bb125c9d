/** What is kept of a batch. */
import type { BatchCounts } from '../../providers/batches.ts'
import type { TaskOwner } from '../../tasks/owner.ts'
import type { Stored } from '../../tasks/stored.ts'
import type { CountedCap, VideoTask } from '../../tasks/task.ts'

/** The data of its task. */
export interface BatchTask extends TaskOwner, Pick<VideoTask, 'digest' | 'attempt'> {
  /**
   * `preparing`: its requests are read, and held. `submitting`: the intent to submit is stored, the vendor's response is not yet.
   * `open`: the vendor works on it. `settling`: it has ended, and its requests are charged or released. `ended`: they are.
   */
  readonly state: 'preparing' | 'submitting' | 'open' | 'settling' | 'ended'
  /** The number of its requests. */
  readonly size: number
  readonly provider: string
  /** Its name of the batch. Absent until the vendor has accepted it. */
  readonly operation?: string
  /** When it was submitted last, if more than once. */
  readonly submittedAt?: number
  readonly models: readonly BatchModel[]
  /** Of a batch of messages: its requests, and as the vendor gets them, which is absent once it has them. */
  readonly lines?: readonly BatchLine[]
  readonly params?: readonly string[]
  /** See `BatchCall.clientHeaders`. */
  readonly clientHeaders?: Readonly<Record<string, string>>
  /** Only of a batch of files. */
  readonly file?: FileBatch
  /** The caps that count the requests, in the periods in which they were held. */
  readonly counted: readonly (readonly CountedCap[])[]
  /** The group's factor on prices, in millionths. */
  readonly multiplier: string
  readonly counts: BatchCounts
  /** When the vendor had accepted it. */
  readonly acceptedAt?: number
  /** Its client has cancelled it. */
  readonly cancelledAt?: number
  /** The vendor was asked to cancel it. */
  readonly asked?: true
  /** When it ended at the vendor. */
  readonly endedAt?: number
  /** It has ended, and the vendor has no results. */
  readonly empty?: true
  /** Consecutive steps that failed. */
  readonly faults: number
}

/** What a batch of files has that one of messages has not. */
export interface FileBatch {
  /** Of all requests, such as `/v1/chat/completions`. */
  readonly endpoint: string
  /** The id of the file with the requests. */
  readonly input: string
  /** The length of the requests as the vendor gets them. */
  readonly bytes: number
  readonly metadata?: Readonly<Record<string, string>>
  /** The ids of the files with the answers, and with the errors. Absent if there are none. */
  readonly output?: string
  readonly errors?: string
  /** Tokens of all answers. */
  readonly usage?: Readonly<Record<'input' | 'cached' | 'output' | 'reasoning', number>>
}

export interface BatchModel {
  /** As the requests name it. */
  readonly name: string
  readonly id: string
  /** The provider's name for it. */
  readonly providerModel: string
}

/** A request of a batch: short names, because there may be thousands. */
export interface BatchLine {
  /** Its `custom_id`. */
  readonly id: string
  /** The number of its model. */
  readonly m: number
  /** Amount held, in micro-units. Absent if nothing is. */
  readonly held?: string
  /** The number of the caps that count it. */
  readonly caps?: number
  /** The most output tokens that it asks for. */
  readonly out: number
  /** The length of its input in bytes, where that is not bounded by the context window. */
  readonly in?: number
}

export type StoredBatch = Stored<BatchTask>

/** Milliseconds after which a batch is forgotten. */
export const lifeMs: number = 30 * 86_400_000
/** Milliseconds that vendors have for a batch; what they have not begun then has expired. */
export const vendorMs = 86_400_000

/** The counts of a batch whose `size` requests have all ended in one way, or are in progress. */
export function countsOf(size: number, all: keyof BatchCounts): BatchCounts {
  return { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0, [all]: size }
}

/** The id of the hold, the charge and the usage record of a request. */
export function lineId({ attempt }: Pick<BatchTask, 'attempt'>, line: string): string {
  return `${attempt}.${line}`
}

/** The id of a request at the vendor. */
export function vendorId({ attempt }: Pick<BatchTask, 'attempt'>, index: number): string {
  return `${attempt}-${index}`
}

/** The number of the request with this id at the vendor; undefined if the batch has none. */
export function indexOf(
  data: Pick<BatchTask, 'attempt'>,
  lines: readonly BatchLine[],
  id: unknown,
): number | undefined {
  if (typeof id !== 'string') return undefined
  const index = Number(id.slice(id.lastIndexOf('-') + 1))
  return lines[index] !== undefined && vendorId(data, index) === id ? index : undefined
}
