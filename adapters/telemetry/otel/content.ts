/** What the spans of attempts say about the request. */
import type { Span } from '@opentelemetry/api'
import type { ObservedRequest } from '../../../src/index.ts'
import { requestNumbers, spanAttributes } from '../names.ts'

const numbers = Object.entries(requestNumbers)

/** Sets the parameters of a request, and its content if asked to. Reads nothing of a large request, which would take long. */
export function describe(span: Span, request: ObservedRequest, withContent: boolean): void {
  if (request.stream) span.setAttribute(spanAttributes.stream, true)
  if (request.large === true) return
  setParameters(span, request)
  if (withContent) setContent(span, request)
}

function setParameters(span: Span, { field }: ObservedRequest): void {
  for (const [name, attribute] of numbers) {
    const value = field(name)
    if (typeof value === 'number') span.setAttribute(attribute, value)
  }
  const choices = field('n')
  if (typeof choices === 'number' && choices !== 1) span.setAttribute(spanAttributes.choices, choices)
  const output = outputTypeOf(field('response_format'))
  if (output !== undefined) span.setAttribute(spanAttributes.outputType, output)
}

function outputTypeOf(format: unknown): string | undefined {
  const { type } = Object(format) as { type?: unknown }
  if (type === 'text') return 'text'
  return type === 'json_object' || type === 'json_schema' ? 'json' : undefined
}

/** The most characters of an attribute. */
const longest = 64 * 1024

/** The content of a request: what it asks, as JSON in the format of the client. */
function setContent(span: Span, { field }: ObservedRequest): void {
  const set = (attribute: string, value: unknown) => {
    if (value !== undefined && value !== null) span.setAttribute(attribute, JSON.stringify(value).slice(0, longest))
  }
  set(spanAttributes.inputMessages, field('messages') ?? field('input') ?? field('prompt'))
  set(spanAttributes.systemInstructions, field('instructions') ?? field('system'))
  set(spanAttributes.toolDefinitions, field('tools'))
}
