import { context, SpanKind, SpanStatusCode, trace, type Context, type Span, type SpanOptions } from '@opentelemetry/api'
import {
  parseMoney,
  type CallEnd,
  type ObservedAttempt,
  type ObservedCall,
  type ObservedTask,
  type Receipt,
} from '../../../src/index.ts'
import { CallFigures } from '../call-figures.ts'
import { attributes, operationOf, other, spanAttributes } from '../names.ts'
import { TracedAttempt } from './attempt-span.ts'
import type { Batched } from './batch.ts'
import { LateSpan } from './late-span.ts'
import { formatTraceparent, parseTraceparent } from './traceparent.ts'
import { longestName, type Tracing } from './tracing.ts'

/** The span of a request. It begins within `gateway.handle`, where the context of the host is active. */
export class TracedCall extends CallFigures implements Batched {
  readonly #tracing: Tracing
  readonly #span: LateSpan
  readonly #context: Context
  readonly #arrivedAt = performance.now()
  #end: CallEnd | undefined

  constructor(tracing: Tracing, call: ObservedCall) {
    super(tracing.figures, call)
    this.#tracing = tracing
    const parent = parentOf(tracing, call)
    this.#span = new LateSpan(() =>
      tracing.tracer.startSpan(operationOf(call.endpoint), optionsOf(call, parent), parent),
    )
    this.#context = trace.setSpan(parent, this.#span)
  }

  get traceparent(): string | undefined {
    return formatTraceparent(this.#span.spanContext())
  }

  within<T>(work: () => T): T {
    return context.with(this.#context, work)
  }

  override attempt(attempt: ObservedAttempt): TracedAttempt {
    const startedAt = this.call.startedAt + performance.now() - this.#arrivedAt
    return this.begin(new TracedAttempt(this.#tracing, attempt, startedAt, this.#context))
  }

  /** Polls of a video are in traces of their own, linked to the request that created it. */
  task({ id, traceparent }: ObservedTask): void {
    this.#span.setAttribute(spanAttributes.task, id)
    const submitted = parseTraceparent(traceparent)
    if (submitted !== undefined && submitted.spanId !== this.#span.spanContext().spanId) {
      this.#span.addLink({ context: submitted })
    }
  }

  override ended(end: CallEnd): void {
    this.#end = end
    this.#tracing.batch.add(this)
  }

  pass(): void {
    const end = this.#end
    if (end === undefined) return
    super.ended(end)
    const { call } = this
    const span = this.#span.started
    if (span.isRecording()) {
      const model = this.figures.modelOf(call)
      if (model !== undefined && model !== other) span.updateName(`${operationOf(call.endpoint)} ${model}`)
      this.#describe(span, end)
      if (end.outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end(call.startedAt + end.ms)
  }

  /** Without the usage, which is that of the last attempt: a backend that adds up spans would count it twice. */
  #describe(span: Span, { outcome, status, fault, receipt, costs }: CallEnd): void {
    const { call } = this
    span.setAttribute(spanAttributes.request, call.id)
    span.setAttribute(spanAttributes.status, status)
    if (outcome !== 'completed') span.setAttribute(spanAttributes.outcome, outcome)
    if (call.request !== undefined) {
      span.setAttribute(attributes.requestModel, call.request.model.slice(0, longestName))
      if (call.request.stream) span.setAttribute(spanAttributes.stream, true)
    }
    if (fault !== undefined) span.setAttribute(attributes.errorType, fault)
    if (this.#tracing.record.size > 0) this.#addCaller(span, receipt)
    if (receipt === undefined) return
    if (receipt.attempts > 1) span.setAttribute(spanAttributes.attempts, receipt.attempts)
    const skipped = receipt.attemptLog?.filter((attempt) => attempt.outcome === 'skipped') ?? []
    if (skipped.length > 0) {
      const said = skipped.map(({ provider, providerModel, code }) => `${provider}/${providerModel}: ${code}`)
      span.setAttribute(spanAttributes.skipped, said)
    }
    if (receipt.charge !== undefined) {
      span.setAttribute(spanAttributes.cost, Number(parseMoney(receipt.charge.cost)))
      span.setAttribute(attributes.currency, receipt.charge.currency)
    }
    if (costs === undefined) return
    span.setAttribute(spanAttributes.vendorCost, millionths(costs.vendorCost))
    span.setAttribute(spanAttributes.margin, millionths(costs.margin))
    if (costs.currency !== undefined) span.setAttribute(attributes.currency, costs.currency)
  }

  #addCaller(span: Span, receipt: Receipt | undefined): void {
    const { record } = this.#tracing
    const { caller } = this.call
    const { user = caller?.user, session } = receipt ?? {}
    const add = (name: string, attribute: string, value: string | undefined) => {
      if (record.has(name) && value !== undefined) span.setAttribute(attribute, value)
    }
    add('account', spanAttributes.account, caller?.account)
    add('key', spanAttributes.key, caller?.key)
    add('user', spanAttributes.user, user)
    add('session', spanAttributes.conversation, session)
  }
}

/** Of an amount with nine decimal places, as the nearest number. */
function millionths(amount: string): number {
  return Math.round(Number(amount) * 1e9) / 1e3
}

function optionsOf({ endpoint, startedAt }: ObservedCall, parent: Context): SpanOptions {
  const kind = trace.getSpan(parent) === undefined ? SpanKind.SERVER : SpanKind.INTERNAL
  return { kind, startTime: startedAt, attributes: { [attributes.operation]: operationOf(endpoint) } }
}

function parentOf({ acceptTraceparent }: Tracing, { exchange }: ObservedCall): Context {
  const active = context.active()
  if (!acceptTraceparent || trace.getSpan(active) !== undefined) return active
  const { traceparent } = exchange.headers
  const remote = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined
  return remote === undefined ? active : trace.setSpanContext(active, remote)
}
