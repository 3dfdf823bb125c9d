import * as z from 'zod'
import type { Admin } from '../admin.ts'
import type { Exchange, Reply } from '../../http/exchange.ts'
import type { GatewayHealth } from '../../observe/health.ts'
import type { ConfigWarning } from '../../records/warning.ts'
import type { Identity } from './identity.ts'
import type { Page } from '../../records/page.ts'
import type { UsageScope } from '../usage-scope.ts'
import { listOf, pageOf } from './schemas/values.ts'
import { GatewayError } from '../../errors.ts'

/** What the admin API needs of a gateway: every `Gateway` has it. */
export interface AdministeredGateway {
  /** The operations over accounts, keys, usage and models. */
  readonly admin: Admin
  /** Whether the gateway is being closed: requests then get 503. */
  readonly isClosing: () => boolean
  /** The state of the gateway and its stores. */
  health(): Promise<GatewayHealth>
  /** Likely mistakes in its options. */
  warnings(): readonly ConfigWarning[]
}

/** A request to a route, after all checks. */
export interface AdminCall<Query = Record<string, unknown>, Body = Record<string, unknown>> {
  readonly admin: Admin
  readonly gateway: AdministeredGateway
  /** What the identity may read and change. */
  readonly scope: UsageScope
  /** The account in the path; empty if the path has none. */
  readonly account: string
  /** The other parameter in the path, decoded. */
  readonly id: string
  readonly query: Query
  readonly body: Body
  readonly identity: Identity
  readonly exchange: Exchange
  /** Whether writes are refused. */
  readonly readOnly: boolean
  /** The names of the groups that the identity may use. */
  readonly groups: () => Promise<readonly string[]>
}

interface Described {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Such as `/accounts/{account}/keys/{key}`. */
  readonly path: string
  /** The `operationId` of the OpenAPI document. */
  readonly name: string
  readonly summary: string
  readonly description?: string | undefined
  /** `account`: both roles. With `{account}` in the path or `account` in the query, an account reaches its own only. */
  readonly role: Identity['role']
  /** Whether it shows what was asked and answered, so that it is only for identities that may read that. */
  readonly isContent?: boolean
  /** Whether reading is an entry of the audit log, as changes are. */
  readonly isNoted?: boolean
}

/** What a route responds with. */
type Produced =
  | {
      readonly produces: 'json'
      readonly status: 200 | 201
      readonly response: z.ZodType
      /** It reads as much as a file does: few at a time. */
      readonly isLong?: true
      answer(call: AdminCall): unknown
    }
  | {
      /** Text that is read from the stores while it is sent. */
      readonly produces: 'csv' | 'jsonl'
      answer(call: AdminCall): AsyncIterable<string>
    }
  | { readonly produces: 'bytes'; answer(call: AdminCall): Promise<Reply> }

/** A route of the admin API, as the engine and the OpenAPI document read it. */
export type Route = Described &
  Produced & {
    /** Absent: no parameters. */
    readonly query?: z.ZodObject | undefined
    /** Absent: no body is read. */
    readonly body?: z.ZodType | undefined
  }

/** Fields as they are parsed: one that may be absent is never undefined. */
type Parsed<T> = { readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}

type Shape = Readonly<Record<string, z.ZodType>>
type Fields<S extends Shape> = Parsed<{ [Name in keyof S]: z.output<S[Name]> }>

/** What a route takes, and how it answers: as JSON with a `response`, `page` or `list`, or as a file. */
type Handler<Query extends Shape, Body> = {
  readonly summary: string
  readonly description?: string
  readonly query?: Query
  /** The fields of the body, or a schema. */
  readonly body?: Body
} & Answer<
  AdminCall<Fields<Query>, Body extends z.ZodType<infer T> ? Parsed<T> : Body extends Shape ? Fields<Body> : object>
>

type Answer<C> =
  | {
      readonly response: z.ZodType
      readonly status?: 201
      readonly isLong?: true
      readonly answer: (call: C) => unknown
    }
  | { readonly page: z.ZodType; readonly answer: (call: C) => Promise<Page<unknown>> }
  | { readonly list: z.ZodType; readonly answer: (call: C) => Promise<readonly unknown[]> | readonly unknown[] }
  | { readonly csv: (call: C) => AsyncIterable<string> }
  | { readonly jsonl: (call: C) => AsyncIterable<string> }
  | { readonly bytes: (call: C) => Promise<Reply> }

/** Makes a route from its name, and from its place such as `GET /keys`. */
type Maker = <Query extends Shape, Body extends Shape | z.ZodType>(
  name: string,
  place: `${Described['method']} /${string}`,
  handler: Handler<Query, Body>,
) => Route

/** A route for the operator. */
export const forOperator: Maker = (name, place, handler) => made('admin', name, place, handler)

/** A route for both roles. */
export const forAccount: Maker = (name, place, handler) => made('account', name, place, handler)

/** A route for both roles that shows what was asked and answered. */
export const forContent: Maker = (name, place, handler) => ({
  ...made('account', name, place, handler),
  isContent: true,
  isNoted: true,
})

function made(role: Identity['role'], name: string, place: string, handler: object): Route {
  const { summary, description, query, body, ...answer } = handler as Handler<Shape, Shape | z.ZodType>
  const [method, path] = place.split(' ') as [Described['method'], string]
  return {
    role,
    method,
    path,
    name,
    summary,
    description,
    query: query && z.strictObject(query),
    body: body && (body instanceof z.ZodType ? body : z.strictObject(body)),
    ...produced(answer),
  }
}

function produced(given: Answer<AdminCall>): Produced {
  if ('csv' in given) return { produces: 'csv', answer: given.csv }
  if ('jsonl' in given) return { produces: 'jsonl', answer: given.jsonl }
  if ('bytes' in given) return { produces: 'bytes', answer: given.bytes }
  const json = { produces: 'json', status: 200 } as const
  if ('response' in given) return { ...json, ...given }
  if ('page' in given) return { ...json, response: pageOf(given.page), answer: given.answer }
  const { list, answer } = given
  return { ...json, response: listOf(list), answer: async (call) => ({ items: await answer(call) }) }
}

/** Throws a 503 once the gateway is being closed: a request would open stores again that it has closed. */
export function requireOpen(gateway: Pick<AdministeredGateway, 'isClosing'>): void {
  if (!gateway.isClosing()) return
  const message = 'The server is restarting. Try again.'
  throw new GatewayError('service_unavailable', { message, retryAfterMs: 1_000, fault: 'gateway_closing' })
}
