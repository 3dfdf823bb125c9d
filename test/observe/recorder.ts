/** Telemetry that keeps everything it is given. */
import type {
  AttemptResult,
  BreakerChange,
  CallEnd,
  GatewayState,
  ObservedAttempt,
  ObservedCall,
  ObservedTask,
  QueueName,
  Receipt,
  StoreFailure,
  TaskChange,
  Telemetry,
} from '../../src/index.ts'

export interface RecordedAttempt {
  readonly attempt: ObservedAttempt
  begun: boolean
  end?: AttemptResult
}

export interface RecordedCall {
  readonly call: ObservedCall
  readonly attempts: RecordedAttempt[]
  readonly tasks: ObservedTask[]
  pieces: number
  end?: CallEnd
}

export class Recorder implements Telemetry {
  readonly calls: RecordedCall[] = []
  /** Those outside of requests. */
  readonly attempts: RecordedAttempt[] = []
  readonly receipts: Receipt[] = []
  readonly breakers: BreakerChange[] = []
  readonly stores: StoreFailure[] = []
  readonly drops: QueueName[] = []
  readonly changes: TaskChange[] = []
  state: () => GatewayState = () => {
    throw new Error('not attached')
  }
  /** Headers for vendors. */
  headers: Readonly<Record<string, string>> = {}
  traceparent: string | undefined
  #waiting: (() => void)[] = []

  attach(state: () => GatewayState): void {
    this.state = state
  }

  call(call: ObservedCall) {
    const recorded: RecordedCall = { call, attempts: [], tasks: [], pieces: 0 }
    this.calls.push(recorded)
    return {
      traceparent: this.traceparent,
      attempt: (attempt: ObservedAttempt) => this.#listen(recorded.attempts, attempt),
      task: (task: ObservedTask) => void recorded.tasks.push(task),
      piece: () => void recorded.pieces++,
      ended: (end: CallEnd) => {
        recorded.end = end
        for (const wake of this.#waiting.splice(0)) wake()
      },
    }
  }

  attempt(attempt: ObservedAttempt) {
    return this.#listen(this.attempts, attempt)
  }

  receipt(receipt: Receipt): void {
    this.receipts.push(receipt)
  }

  breaker(change: BreakerChange): void {
    this.breakers.push(change)
  }

  store(failure: StoreFailure): void {
    this.stores.push(failure)
  }

  dropped(queue: QueueName): void {
    this.drops.push(queue)
  }

  task(change: TaskChange): void {
    this.changes.push(change)
  }

  /** The call at this place, once it has ended. */
  async ended(at = 0): Promise<RecordedCall & { readonly end: CallEnd }> {
    for (;;) {
      const recorded = this.calls[at]
      if (recorded?.end !== undefined) return recorded as RecordedCall & { readonly end: CallEnd }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #listen(list: RecordedAttempt[], attempt: ObservedAttempt) {
    const recorded: RecordedAttempt = { attempt, begun: false }
    list.push(recorded)
    return {
      headers: this.headers,
      begun: () => void (recorded.begun = true),
      ended: (end: AttemptResult) => void (recorded.end = end),
    }
  }
}
