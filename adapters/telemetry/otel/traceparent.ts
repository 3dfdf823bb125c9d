/** The W3C header `traceparent`, which is also what is stored with a video task. */
import { isSpanContextValid, type SpanContext } from '@opentelemetry/api'

/** Undefined for a span that belongs to no trace, as without an SDK. */
export function formatTraceparent(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined
  return `00-${span.traceId}-${span.spanId}-${(span.traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

/** Undefined for anything that is not a `traceparent`: it can come from a client or from another version. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(text ?? '') ?? []
  if (version === undefined || version === 'ff') return undefined
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(context) ? context : undefined
}
