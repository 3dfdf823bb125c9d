import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
} from '@opentelemetry/api'
import type { AnsweredResponse, AttemptResult, ObservedAttempt, Receipt } from '../../../src/index.ts'
import { AttemptFigures } from '../call-figures.ts'
import { attributes, spanAttributes } from '../names.ts'
import { describe } from './content.ts'
import { formatTraceparent, parseTraceparent } from './traceparent.ts'
import { longestName, type Tracing } from './tracing.ts'

/** The span of an attempt: a child of its request's, or a trace of its own for the step of a video task. */
export class TracedAttempt extends AttemptFigures {
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly #span: Span
  /** Absent if the span is not active while the provider is called. */
  readonly #context: Context | undefined

  constructor(tracing: Tracing, attempt: ObservedAttempt, parent: Context = ROOT_CONTEXT) {
    super(tracing.figures, attempt)
    const { providerModel, origin, request, task } = attempt
    const given: Attributes = {
      [attributes.operation]: this.operation,
      [attributes.provider]: this.provider,
      [attributes.requestModel]: providerModel.slice(0, longestName),
    }
    if (origin !== undefined) addServer(given, origin, tracing.servers)
    const links = task === undefined ? undefined : linksTo(attempt)
    const options = { kind: SpanKind.CLIENT, attributes: given, ...(links && { links }) }
    const span = (this.#span = tracing.tracer.startSpan(`${this.operation} ${this.model}`, options, parent))
    if (tracing.active ?? origin === undefined) this.#context = trace.setSpan(parent, span)
    if (span.isRecording()) {
      if (task !== undefined) span.setAttribute(spanAttributes.task, task.id)
      if (request !== undefined) describe(span, request, tracing.record.has('content'))
    }
    const traceparent = tracing.propagate ? formatTraceparent(span.spanContext()) : undefined
    this.headers = traceparent === undefined ? undefined : { traceparent }
  }

  within<T>(work: () => T): T {
    return this.#context === undefined ? work() : context.with(this.#context, work)
  }

  override ended(end: AttemptResult): void {
    super.ended(end)
    const span = this.#span
    if (span.isRecording()) {
      const { fault, outcome, status, receipt, response } = end
      if (outcome !== 'succeeded') span.setAttribute(spanAttributes.outcome, outcome)
      if (this.firstChunk !== undefined) span.setAttribute(spanAttributes.firstChunk, this.firstChunk)
      if (status !== undefined) span.setAttribute(spanAttributes.status, status)
      if (fault !== undefined) {
        span.setAttribute(attributes.errorType, fault)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      if (receipt !== undefined) setUsage(span, receipt)
      if (response !== undefined) setResponse(span, response)
    }
    span.end()
  }
}

/** The steps of a task after its submission are linked to the request that created it. */
function linksTo({ step, task }: ObservedAttempt): Link[] {
  const submitted = step === 'submit' ? undefined : parseTraceparent(task?.traceparent)
  return submitted === undefined ? [] : [{ context: submitted }]
}

function addServer(given: Attributes, origin: string, servers: Tracing['servers']): void {
  let server = servers.get(origin)
  if (server === undefined) {
    const { hostname = '', port, protocol } = URL.parse(origin) ?? {}
    server = { hostname, port: port ? Number(port) : protocol === 'http:' ? 80 : 443 }
    servers.set(origin, server)
  }
  given[attributes.serverAddress] = server.hostname
  given[attributes.serverPort] = server.port
}

function setResponse(span: Span, { id, finishReasons }: AnsweredResponse): void {
  if (id !== undefined) span.setAttribute(spanAttributes.responseId, id)
  if (finishReasons !== undefined && finishReasons.length > 0)
    span.setAttribute(spanAttributes.finishReasons, [...finishReasons])
}

function setUsage(span: Span, { usage, usageSource }: Receipt): void {
  if (usageSource !== 'reported') return
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage
  const cached = input?.cached_tokens
  const written = input?.cache_write_tokens
  const reasoning = output?.reasoning_tokens
  span.setAttribute(spanAttributes.inputTokens, usage.prompt_tokens)
  span.setAttribute(spanAttributes.outputTokens, usage.completion_tokens)
  if (cached !== undefined) span.setAttribute(spanAttributes.cacheRead, cached)
  if (written !== undefined) span.setAttribute(spanAttributes.cacheCreation, written)
  if (reasoning !== undefined) span.setAttribute(spanAttributes.reasoning, reasoning)
}
