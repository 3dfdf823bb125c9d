import { GatewayError, type ErrorCode } from '../errors.ts'

/** One attempt of a request at a deployment. */
export interface AttemptRecord {
  /** The name of the provider. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly providerModel: string
  /**
   * `succeeded`: the response has begun and did not break off. `rejected`: the vendor rejected the request. `failed`: the
   * deployment failed, before its response or in the middle of it. `aborted`: the client disconnected, or a timeout passed.
   * `skipped`: it was not called in its turn, because its breaker was open (`service_unavailable`) or the request seemed too long
   * for it (`context_length_exceeded`).
   */
  readonly outcome: 'succeeded' | 'rejected' | 'failed' | 'aborted' | 'skipped'
  /** The HTTP status of the vendor's error response, if there was one. */
  readonly status?: number
  /** Error code of an attempt that did not succeed. */
  readonly code?: ErrorCode
  /** Milliseconds from the start of the request to the start of the attempt. */
  readonly startMs: number
  /** Milliseconds from the start of the attempt to its outcome. */
  readonly ms: number
}

/** How an attempt ended. */
export interface AttemptEnd extends Pick<AttemptRecord, 'ms' | 'status'> {
  readonly outcome: Exclude<AttemptRecord['outcome'], 'skipped'>
  /** Why it did not succeed. */
  readonly error?: unknown
}

/** Maximum number of attempts in a log. */
const most = 100

/** The attempts of one request. */
export class AttemptLog {
  /** Undefined until an attempt has ended. */
  entries: AttemptRecord[] | undefined
  #startMs = 0

  /** `startMs`: milliseconds since the start of the request. */
  start(startMs: number): void {
    this.#startMs = startMs
  }

  /** Adds the attempt that `start` began. */
  end(
    { provider, model }: { provider: { name: string }; model: string },
    ended: Omit<AttemptEnd, 'outcome'> & Pick<AttemptRecord, 'outcome'>,
  ): void {
    const { outcome, ms, status, error } = ended
    const entry: { -readonly [Name in keyof AttemptRecord]: AttemptRecord[Name] } = {
      provider: provider.name,
      providerModel: model,
      outcome,
      startMs: tenth(this.#startMs),
      ms: tenth(ms),
    }
    if (status !== undefined) entry.status = status
    if (error !== undefined) entry.code = GatewayError.from(error).code
    this.entries ??= []
    if (this.entries.length < most) this.entries.push(entry)
  }

  /** The response of the last attempt broke off with an error. */
  broke({ code, fault = 'provider_error' }: GatewayError): void {
    const last = this.entries?.pop()
    if (last === undefined) return
    const isDeployments = last.outcome === 'succeeded' && fault.startsWith('provider_')
    this.entries?.push(isDeployments ? { ...last, outcome: 'failed', code } : last)
  }
}

/** Rounded to a tenth of a millisecond. */
function tenth(ms: number): number {
  return Math.round(ms * 10) / 10
}
