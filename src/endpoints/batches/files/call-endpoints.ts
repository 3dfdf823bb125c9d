/** The endpoints of requests in batches of files. */
import type { CallEndpoint, Order } from '../../endpoint.ts'
import { chat } from '../../chat/chat.ts'
import { completions } from '../../completions/completions.ts'
import { embeddings } from '../../embeddings/embeddings.ts'
import { responses } from '../../responses/responses.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- each endpoint has its own types of request and response
export type AnyCallEndpoint = CallEndpoint<any, any, any>

const all: ReadonlyMap<string, AnyCallEndpoint> = new Map(
  [chat, responses, embeddings, completions].map((endpoint): [string, AnyCallEndpoint] => [
    String(endpoint.path),
    endpoint,
  ]),
)

export const batchPaths: readonly string[] = [...all.keys()]

/** The endpoint at a path, such as `/v1/chat/completions`; undefined if its requests are not for batches. */
export function batchEndpoint(path: unknown): AnyCallEndpoint | undefined {
  return typeof path === 'string' ? all.get(path) : undefined
}

/** What is left of a request when its answer is read. */
export interface RestOfRequest {
  readonly model: string
  readonly promptTokens: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The fields that the answer depends on. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The order of a request whose answer has come; of the responses endpoint too. */
export function orderOf({ model, promptTokens, at, fields }: RestOfRequest): Order<unknown> {
  const ofResponses = {
    conversation: { items: [], earlier: 0, asSent: true },
    isStored: false,
    isPrewarm: false,
    archive: undefined,
    continued: undefined,
    now: () => at,
    progress: undefined,
    derived: [],
  }
  return {
    ...ofResponses,
    model,
    stream: false,
    isParsed: true,
    request: fields,
    promptTokens,
    names: () => Object.keys(fields),
    field: (name: string) => fields[name],
    json: () => Buffer.from('{}'),
  }
}

/** The fields of a request that its answer depends on. */
export function keptFields(
  endpoint: AnyCallEndpoint,
  { field }: Pick<Order<unknown>, 'field'>,
): Record<string, unknown> {
  // A chat's messages may have state for its vendor, which an answer does not need.
  if (endpoint === chat) return { messages: [] }
  if (endpoint !== embeddings) return {}
  const input = field('input')
  // Of the inputs only the number counts.
  const count = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1
  return { encoding_format: field('encoding_format'), input: Array.from({ length: count }, () => '') }
}
