/** The part of the provider contract for batches. */

/**
 * Makes batches of messages in Anthropic's format: the lines of requests and results are those of its Message Batches.
 */
export interface BatchProvider extends BatchJobs {
  /**
   * Submits the requests as one batch and resolves to the vendor's id of it. An error that leaves open whether the vendor has
   * taken the batch is followed by `lookup`.
   */
  create(call: BatchCall): Promise<string>
}

/**
 * The batches that a vendor has accepted. The task store keeps the vendor's id, so any process can call the methods with it. All
 * throw like every method of a provider.
 */
export interface BatchJobs {
  /**
   * The vendor's id of the batch whose requests have these ids; undefined if there certainly is none. Rejects while it is not
   * known, and is then called again. Without this method, a batch whose submission has an unknown outcome ends without results
   * and is not charged.
   */
  lookup?(submission: BatchSubmission, context: BatchContext): Promise<string | undefined>
  /** The state of a batch. Throws `not_found` if the vendor does not know it. */
  retrieve(id: string, context: BatchContext): Promise<BatchStatus>
  /** Asks the vendor to cancel what it has not begun. May be called again. */
  cancel(id: string, context: BatchContext): Promise<void>
  /** The lines of the results of a batch that has ended, in any order. Throws `not_found` once the vendor keeps them no more. */
  results(id: string, context: BatchContext): AsyncIterable<Uint8Array>
  /** Deletes a batch that has ended. Default: the vendor keeps it for as long as it keeps all. */
  delete?(id: string, context: BatchContext): Promise<void>
}

/**
 * Makes batches of files in OpenAI's format: the lines of requests and results are those of its Batch API. The gateway keeps the
 * files that its clients see; the vendor's are the provider's affair.
 */
export interface FileBatchProvider<Relayed = unknown> extends BatchJobs {
  /** The endpoints of its requests, such as `/v1/chat/completions`. */
  readonly endpoints: readonly string[]
  /** Like `create` of a `BatchProvider`. */
  create(call: FileBatchCall): Promise<string>
  /**
   * The same provider, whose requests go to `relay` and not to the vendor, one at a time: so that requests are written, and answers
   * read, as if they were not in a batch.
   */
  through(relay: (request: RelayedRequest) => RelayedResponse): Relayed
}

/** One submission of a batch of files. */
export interface FileBatchCall extends BatchContext {
  /** See `BatchSubmission.token`. */
  readonly token: string
  /** The endpoint of all requests. */
  readonly endpoint: string
  /** The file with the requests, one in each line. */
  readonly lines: AsyncIterable<Uint8Array>
  /** Its length. */
  readonly bytes: number
}

/** A request that a provider would send to its vendor. */
export interface RelayedRequest {
  /** Below the vendor's base URL, such as `/chat/completions`. */
  readonly path: string
  /** JSON. */
  readonly body: Uint8Array
}

/** What the vendor would answer. */
export interface RelayedResponse {
  /** The HTTP status. */
  readonly status: number
  /** JSON. */
  readonly body: Uint8Array
}

/** The context of every call about a batch. */
export interface BatchContext {
  /** Aborted when a deadline passes, or the client disconnects. */
  readonly signal: AbortSignal
}

/** A batch that was submitted, or may have been. */
export interface BatchSubmission {
  /** The ids of its requests are this, a dash and their numbers from 0. No other batch has such ids. */
  readonly token: string
  /** The number of its requests. */
  readonly size: number
  /** When it was submitted first. Milliseconds since the epoch. */
  readonly since: number
  /** When the last submission had ended at the latest. */
  readonly until: number
}

/** One submission of a batch. */
export interface BatchCall extends BatchContext {
  /** The requests, with the vendor's names for their models. */
  readonly requests: readonly {
    /** See `BatchSubmission.token`. */
    readonly id: string
    /** As JSON text. */
    readonly params: string
  }[]
  /** See `Call.clientHeaders`. */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined
}

/** The state of a batch at the vendor. */
export interface BatchStatus {
  /** Whether all requests have ended, so that there are results. */
  readonly ended: boolean
  /** True if the vendor has refused the whole batch after it had accepted it, so that it made none of its requests. */
  readonly failed?: boolean
  /** The number of requests in each state. */
  readonly counts: BatchCounts
}

/** The number of requests of a batch in each state. */
export interface BatchCounts {
  /** Not ended yet. */
  readonly processing: number
  /** With a message. */
  readonly succeeded: number
  /** With an error. */
  readonly errored: number
  /** Cancelled before they were begun. */
  readonly canceled: number
  /** Not begun within the time that the vendor has for a batch. */
  readonly expired: number
}
