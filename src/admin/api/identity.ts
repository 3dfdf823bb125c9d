import { within } from '../../http/deadline.ts'
import type { Exchange } from '../../http/exchange.ts'
import { id } from '../questions.ts'

interface AnyIdentity {
  /** Refuses everything that changes something. Default false. */
  readonly readOnly?: boolean
  /** Whether it may read what was asked and answered, of all that it reaches, where that is kept. Default false. */
  readonly content?: boolean
  /** Who it is, such as an e-mail address, for the audit log: 1 to 128 visible ASCII characters. Default of an account: its id. */
  readonly name?: string
}

/** The operator: reaches everything. */
export interface AdminIdentity extends AnyIdentity {
  /** Reaches all accounts and all routes. */
  readonly role: 'admin'
}

/** A customer: reaches only what belongs to one account. */
export interface AccountIdentity extends AnyIdentity {
  /** Reaches the rows of `account` only. Every other id gets the response of one that does not exist. */
  readonly role: 'account'
  /** The account. */
  readonly account: string
  /**
   * The groups in which this identity may create keys, and whose models it sees. Default: those of the account's keys that
   * are valid now, so that the first key of an account has to be created by the operator.
   */
  readonly groups?: readonly string[]
}

/** Who sent a request to the admin API. */
export type Identity = AdminIdentity | AccountIdentity

/**
 * Says who sent a request. `exchange.host` is the host's own request object: that of Express, the context of Koa, or the web
 * `Request`, so that sessions of the host can be used. Undefined: the response is a 404, as if nothing were there. A
 * thrown `GatewayError` is the response; any other error is a 500.
 *
 * @example
 * const authorize: Authorize = ({ host }) => {
 *   const { user } = (host as express.Request).session
 *   if (user === undefined) return undefined
 *   return user.isOperator ? { role: 'admin' } : { role: 'account', account: user.account }
 * }
 */
export type Authorize = (exchange: Exchange) => Promise<Identity | undefined> | Identity | undefined

/** Milliseconds to wait for `authorize`. */
const timeoutMs = 10_000

/** The identity that `authorize` returns; undefined if there is none. Rejects if it fails or returns anything else. `name`: its own. */
export async function identify(
  authorize: Authorize,
  exchange: Exchange,
  name = 'authorize()',
): Promise<Identity | undefined> {
  const asked = (async () => authorize(exchange))()
  const identity: unknown = await within(timeoutMs, asked, name)
  if (identity === undefined || identity === null) return undefined
  if (!isIdentity(identity)) {
    throw new TypeError(
      `${name} must return { role: "admin" }, { role: "account", account } or undefined, with visible ASCII characters as names`,
    )
  }
  return identity
}

function isIdentity(value: unknown): value is Identity {
  const { role, account, groups, readOnly, content, name } = Object(value) as Record<string, unknown>
  if ([readOnly, content].some((each) => each !== undefined && typeof each !== 'boolean')) return false
  if (name !== undefined && !id.safeParse(name).success) return false
  if (role === 'admin') return true
  const hasGroups = groups === undefined || (Array.isArray(groups) && groups.every((each) => typeof each === 'string'))
  return role === 'account' && id.safeParse(account).success && hasGroups
}
