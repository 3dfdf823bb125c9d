/** Declares endpoints: those of the gateway, and those of the host. */
import { GatewayError, invalid } from '../errors.ts'
import { jsonReply } from '../http/answers.ts'
import { readJson } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Sizes } from '../http/sizes.ts'
import type { CallEndpoint, Order, QueryEndpoint } from './endpoint.ts'
import { jsonOrder } from './order.ts'

/** A schema of zod, valibot, ArkType or another library with the interface of https://standardschema.dev. */
export interface BodySchema<Request> {
  /** The interface of Standard Schema, as far as it is used. */
  readonly '~standard': {
    /** Returns `issues` for a value that does not fit. */
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>
    /** Only for the compiler. */
    readonly types?:
      | {
          /** The request. */
          readonly output: Request
        }
      | undefined
  }
}

interface SchemaResult {
  readonly issues?: readonly SchemaIssue[] | undefined
}

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** An endpoint that calls a model, with defaults for reading its request and writing its answer. */
export type EndpointDefinition<Request, Answer, Read extends Order<Request> = Order<Request>> = Omit<
  CallEndpoint<Request, Answer, Read>,
  'read' | 'whole'
> &
  Partial<Pick<CallEndpoint<Request, Answer, Read>, 'read' | 'whole'>> & {
    /**
     * What the JSON body must fit; a 400 names the field that does not. The request is passed on as the client sent it. Default:
     * only `model` is required. Not used with a `read` of your own.
     */
    readonly schema?: BodySchema<Request>
  }

/**
 * Declares an endpoint, for the option `endpoints` of `createGateway`. It is served under the same keys, limits, prices, holds,
 * idempotency and records as the gateway's own. By default it reads a JSON body with a `model`, and answers with JSON. Throws a
 * `TypeError` for a path that is not below `/v1/`.
 *
 * @example
 * const summaries = defineEndpoint({
 *   method: 'POST',
 *   path: '/v1/summaries',
 *   name: 'summaries',
 *   makes: 'text',
 *   lengthFields: ['max_tokens'],
 *   schema: z.looseObject({ model: z.string(), text: z.string(), max_tokens: z.int().optional() }),
 *   async ask(provider, call, context) {
 *     const { text, max_tokens } = call.request
 *     const messages = [{ role: 'user', content: `Summarise this text: ${text}` }] as const
 *     const { choices } = await askChat(provider, call, context, { messages, max_tokens })
 *     return { object: 'summary', summary: choices[0]?.message.content }
 *   },
 * })
 */
export function defineEndpoint(endpoint: QueryEndpoint): QueryEndpoint
export function defineEndpoint<Request, Answer, Read extends Order<Request> = Order<Request>>(
  endpoint: EndpointDefinition<Request, Answer, Read>,
): CallEndpoint<Request, Answer, Read>
export function defineEndpoint<Request, Answer, Read extends Order<Request>>(
  endpoint: QueryEndpoint | EndpointDefinition<Request, Answer, Read>,
): QueryEndpoint | CallEndpoint<Request, Answer, Read> {
  const misplaced = [endpoint.path].flat().find((path) => !/^\/(?:v1|v1beta|v2)\/[\w*/:.-]+$/.test(path))
  if (misplaced !== undefined) throw new TypeError(`defineEndpoint: the path "${misplaced}" must begin with "/v1/"`)
  if (!('ask' in endpoint)) return endpoint
  const { schema, ...rest } = endpoint
  return { read: reader(schema), whole: (answer) => jsonReply(answer), ...rest }
}

function reader<Request, Read extends Order<Request>>(schema: BodySchema<Request> | undefined) {
  return async (exchange: Exchange, sizes: Sizes): Promise<Read> => {
    const body = await readJson(exchange, sizes)
    const model = body.get('model')
    if (model === undefined) throw invalid('Missing required parameter: "model".', 'model')
    if (typeof model !== 'string' || model === '') throw invalid('"model" must be the name of a model.', 'model')
    const result = await schema?.['~standard'].validate(body.value)
    const [issue] = result?.issues ?? []
    if (issue !== undefined) throw refusalOf(issue)
    return jsonOrder<Request>(body) as Read
  }
}

function refusalOf({ message, path = [] }: SchemaIssue): GatewayError {
  const keys = path.map((each) => (typeof each === 'object' ? each.key : each))
  const param = keys.map((key, at) => (typeof key === 'number' ? `[${key}]` : (at === 0 ? '' : '.') + String(key)))
  const name = param.join('')
  return name === '' ? invalid(`${message}.`) : invalid(`Invalid value for "${name}": ${message}.`, name)
}
