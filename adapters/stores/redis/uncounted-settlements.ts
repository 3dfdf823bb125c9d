/** Settlements that are booked on the node of their account, and not yet counted on the node of the caps. */
import { lua } from './scripts.ts'

/** Milliseconds after which another process may count a settlement, because the one that booked it has probably died. */
const lateMs = 5_000
/** Maximum number of settlements of a base to take at once. */
export const mostDue = 20

/** Each as what was left of the account before and after, and the charge, separated by spaces. */
export const findDue: string = lua(
  `return redis.call('ZRANGEBYSCORE', key('due'), '-inf', real(now - ${lateMs}), 'LIMIT', 0, ${mostDue})`,
)

export const forgetDue: string = lua(`redis.call('ZREM', key('due'), ARGV[2])`)
