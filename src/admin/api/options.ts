import { callback, checkKnown, flag, type Known, type Rule } from '../../records/known-options.ts'
import type { Authorize } from './identity.ts'

/** A request to the admin API that failed with a status of 500 or above. */
export interface AdminFailure {
  /** The id of the request, as in `x-request-id`. */
  readonly id: string
  /** The HTTP method. */
  readonly method: string
  /** The request target below the mount path. */
  readonly target: string
  /** What was thrown. The cause of a store's failure is its `cause`. */
  readonly error: unknown
}

/** Options of `adminApi`. */
export interface AdminApiOptions {
  /** Says who sent a request. Required. */
  readonly authorize: Authorize
  /**
   * The values of the `Host` header to respond to, each with or without a port, such as `admin.example.com`; `'*'` for all.
   * Protects a server on a private address from pages that resolve their own name to it (DNS rebinding). Default:
   * `localhost`, `127.0.0.1` and `[::1]`, with any port.
   */
  readonly hosts?: readonly string[] | '*'
  /** Refuses everything that changes something. Default false. */
  readonly readOnly?: boolean
  /** Called for each response with a status of 500 or above, such as one for a store that is down. Default: nothing. */
  readonly onError?: (failure: AdminFailure) => void
}

const hostNames: Rule = {
  is: (value) => value === '*' || (Array.isArray(value) && value.length > 0 && value.every(isHost)),
  must: 'must be "*" or an array of host names without scheme and path, such as ["admin.example.com"]',
}

function isHost(value: unknown): boolean {
  return typeof value === 'string' && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(value)
}

/** The rules of the options. */
export const adminRules: Known<AdminApiOptions> = {
  authorize: { ...callback, always: true },
  hosts: hostNames,
  readOnly: flag,
  onError: callback,
}

/** Throws a `TypeError` that names the invalid option. `place`: the function that got them. */
export function checkAdminOptions<Options extends AdminApiOptions>(
  place: string,
  options: Options | undefined,
  rules: Known<Options>,
): void {
  checkKnown(place, options ?? {}, rules)
  if (options?.authorize === undefined) throw new TypeError(`${place}: "authorize" is missing: who may use it?`)
}
