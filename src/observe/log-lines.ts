/** Writes what fails to the logger of the host: one line each. */
import { GatewayError } from '../errors.ts'
import { causeOf } from './cause.ts'
import type {
  AttemptListener,
  AttemptResult,
  CallEnd,
  CallListener,
  ObservedAttempt,
  ObservedCall,
  StoreFailure,
  TaskChange,
  Telemetry,
} from './contract.ts'
import { LineLimit } from './line-limit.ts'
import { writerTo, type Level, type Logger, type Write } from './logger.ts'
import type { BreakerChange } from './gateway-state.ts'

type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export class FailureLines implements Telemetry {
  readonly #write: Write
  readonly #limit: LineLimit
  /** Errors that a line was written for. */
  readonly #told = new WeakSet()

  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#write = writerTo(logger)
    this.#limit = new LineLimit(now)
  }

  call(call: ObservedCall): CallListener {
    return new CallLines(this, call)
  }

  attempt(attempt: ObservedAttempt): AttemptListener {
    return new AttemptLine(this, attempt)
  }

  breaker({ provider, model, state }: BreakerChange): void {
    if (state === 'half-open') return
    const [level, message] =
      state === 'open' ? (['warn', 'deployment skipped'] as const) : (['info', 'deployment works'] as const)
    this.line(level, message, provider, { provider, providerModel: short(model) })
  }

  store({ store, error }: StoreFailure): void {
    this.line('error', 'store failed', store, { store, cause: causeOf(error) })
  }

  task({ id, type, reason, model, provider, code }: TaskChange): void {
    if (type !== 'failed' && type !== 'reconcile') return
    const message = type === 'failed' ? 'video failed' : 'video needs attention'
    this.line('warn', message, `${provider} ${reason ?? code}`, {
      task: id,
      model: short(model),
      provider,
      code,
      reason,
    })
  }

  /** A failure that is published, unless it is that of a request which has its line already. */
  failure(id: string, error: unknown, isUnsettled: boolean): void {
    if (typeof error === 'object' && error !== null && this.#told.has(error)) return
    const code = GatewayError.is(error) ? error.code : undefined
    const named = id.startsWith('req_') ? { requestId: id } : { id }
    const fields = { ...named, code, cause: causeOf(error), ...(isUnsettled && { unsettled: true }) }
    this.line('error', 'work failed', String(code), fields)
  }

  /** Remembers an error and its cause, so that `failure` does not repeat them. */
  tell(error: GatewayError): void {
    this.#told.add(error)
    if (typeof error.cause === 'object' && error.cause !== null) this.#told.add(error.cause)
  }

  /** `kind`: what has lines with this message in common with others of which only some are written. */
  line(level: Level, message: string, kind: string, fields: LogFields): void {
    const suppressed = this.#limit.admit(`${message} ${kind}`)
    if (suppressed === undefined) return
    const given = Object.entries({ ...fields, ...(suppressed > 0 && { suppressed }) })
    this.#write(level, message, Object.fromEntries(given.filter(([, value]) => value !== undefined)))
  }
}

class CallLines implements CallListener {
  readonly #lines: FailureLines
  readonly #call: ObservedCall

  constructor(lines: FailureLines, call: ObservedCall) {
    this.#lines = lines
    this.#call = call
  }

  attempt(attempt: ObservedAttempt): AttemptListener {
    return new AttemptLine(this.#lines, attempt)
  }

  ended({ outcome, status, ms, fault, error, receipt }: CallEnd): void {
    if (outcome !== 'failed' || error === undefined || error.status < 500) return
    const { id, endpoint, request } = this.#call
    const model = receipt?.model ?? request?.model
    const { provider, providerModel, attempts } = receipt ?? {}
    this.#lines.tell(error)
    this.#lines.line('error', 'request failed', `${provider} ${fault}`, {
      requestId: id,
      endpoint,
      model: model && short(model),
      provider,
      providerModel: providerModel && short(providerModel),
      attempts,
      status,
      code: error.code,
      fault,
      ms: rounded(ms),
      cause: causeOf(error),
    })
  }
}

class AttemptLine implements AttemptListener {
  readonly #lines: FailureLines
  readonly #attempt: ObservedAttempt

  constructor(lines: FailureLines, attempt: ObservedAttempt) {
    this.#lines = lines
    this.#attempt = attempt
  }

  ended({ outcome, status, ms, fault, error }: AttemptResult): void {
    if (outcome === 'succeeded' || fault?.startsWith('caller_disconnected')) return
    const { id, endpoint, step, model, provider, providerModel, task } = this.#attempt
    const [level, message] =
      outcome === 'rejected' ? (['info', 'attempt rejected'] as const) : (['warn', 'attempt failed'] as const)
    this.#lines.line(level, message, `${provider} ${fault} ${status}`, {
      requestId: id,
      endpoint,
      ...(step !== 'call' && { step }),
      task: task?.id,
      model: short(model),
      provider,
      providerModel: short(providerModel),
      status,
      code: GatewayError.is(error) ? error.code : undefined,
      fault,
      ms: rounded(ms),
      cause: causeOf(error),
    })
  }
}

/** Names that clients choose may be any text. */
function short(name: string): string {
  return name.slice(0, 128)
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}
