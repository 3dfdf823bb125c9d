import type { ScopedCap } from '../../records/cap.ts'
import type { ConfigWarning } from '../../records/warning.ts'
import type { GatewayOptions } from '../options/options.ts'

/** Callers that there are none of, and caps that do not apply to them. */
export function callerWarnings(options: GatewayOptions): ConfigWarning[] {
  const { keys = {}, authenticate, storage, billing, groups = {} } = options
  const all = Object.values(keys)
  if (all.length === 0 && authenticate === undefined && storage?.keys === undefined) {
    const message =
      "is empty, so every request gets a 401, until gateway.admin.keys makes a key, which lasts as long as this process. Add a key, such as 'sk-…': {}, or set authenticate, or a storage that keeps keys."
    return [{ code: 'no_callers', where: 'keys', message }]
  }
  const withoutUser = all.filter(({ user }) => user === undefined)
  const inGroup = (name: string) => withoutUser.filter(({ group = 'default' }) => group === name).length
  return [
    ...withoutAccount(options),
    ...perUser(billing?.caps, 'billing.caps', withoutUser.length),
    ...Object.entries(groups).flatMap(([name, { caps }]) => perUser(caps, `groups.${name}.caps`, inGroup(name))),
  ]
}

/** A top-up of an account by the name of the key credits another one. */
function withoutAccount({ keys = {}, billing }: GatewayOptions): ConfigWarning[] {
  const count = Object.values(keys).filter(({ account }) => account === undefined).length
  if (count === 0 || billing === undefined || billing.unpriced === 'free') return []
  const message = `${count} of the keys have no account, so each pays from one of its own, named by its public id, "key_…". Set "account", which you top up.`
  return [{ code: 'key_without_account', where: 'keys', message }]
}

/** `escaping`: the keys without a user, whose calls such a cap does not limit. */
function perUser(caps: readonly ScopedCap[] = [], where: string, escaping: number): ConfigWarning[] {
  if (escaping === 0) return []
  return caps
    .filter(({ per }) => per === 'user')
    .map(({ name }) => ({
      code: 'cap_without_user',
      where,
      message: `the cap "${name}" is per user and does not limit ${escaping} of the keys in the options, which have no user (the field "user" of a request does not count, because clients choose it). Set "user" of the keys, or per: 'key'.`,
    }))
}
