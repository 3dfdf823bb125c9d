import type * as z from 'zod'
import type { Admin } from '../admin.ts'
import type { Exchange, Reply } from '../../http/exchange.ts'
import type { GatewayHealth } from '../../observe/health.ts'
import type { ConfigWarning } from '../../records/warning.ts'
import type { Identity } from './identity.ts'
import type { UsageScope } from '../usage-scope.ts'
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
  readonly description?: string
  /** `account`: both roles. With `{account}` in the path or `account` in the query, an account reaches its own only. */
  readonly role: 'admin' | 'account'
}

/** What a route responds with. */
type Produced<C> =
  | {
      readonly produces: 'json'
      /** Default 200. */
      readonly status?: 200 | 201
      readonly response: z.ZodType
      answer(call: C): unknown
    }
  | {
      /** Text that is read from the stores while it is sent. */
      readonly produces: 'csv' | 'jsonl'
      answer(call: C): AsyncIterable<string>
    }
  | { readonly produces: 'bytes'; answer(call: C): Promise<Reply> }

/** A route of the admin API, as the engine and the OpenAPI document read it. */
export type Route = Described &
  Produced<AdminCall> & {
    /** Absent: no parameters. */
    readonly query?: z.ZodObject | undefined
    /** Absent: no body is read. */
    readonly body?: z.ZodType | undefined
  }

/** Checks a route's handler against its schemas. */
export function route<Query extends z.ZodType, Body extends z.ZodType>(
  given: Described & { readonly query?: Query; readonly body?: Body } & Produced<
      AdminCall<z.output<Query>, z.output<Body>>
    >,
): Route {
  return given as unknown as Route
}

/** The fields that have a value: an absent one and one that is undefined have different types. */
export function given<T extends object>(fields: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

/** Throws a 503 once the gateway is being closed: a request would open stores again that it has closed. */
export function requireOpen(gateway: Pick<AdministeredGateway, 'isClosing'>): void {
  if (!gateway.isClosing()) return
  const message = 'The server is restarting. Try again.'
  throw new GatewayError('service_unavailable', { message, retryAfterMs: 1_000, fault: 'gateway_closing' })
}
