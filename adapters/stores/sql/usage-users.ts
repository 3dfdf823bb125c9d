/** The users that requests have named. */
import type { NamedUser } from '../index.ts'
import type { Sql } from './sql.ts'

const known = 'SELECT 1 AS known FROM @.usage_users WHERE account = :account AND "user" = :user'
/** Of two processes that register users of an account at once, one does not get its place, and tries again. */
const register = `INSERT INTO @.usage_users (account, "user", place)
  SELECT :account, :user, place FROM (
    SELECT count(*) AS count, coalesce(max(place), 0) + 1 AS place FROM @.usage_users WHERE account = :account
  ) next WHERE count < :most`

/** Registers the users for whom there is room. Returns for each of them whether it is registered, now or before. */
export async function admitUsers(sql: Sql, users: readonly NamedUser[], most: number): Promise<boolean[]> {
  const admitted: boolean[] = []
  for (const named of users) admitted.push(await admit(sql, named, most))
  return admitted
}

async function admit({ all, insert }: Sql, { account, user }: NamedUser, most: number): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if ((await all(known, { account, user })).length > 0) return true
    if (await insert(register, { account, user, most })) return true
    const [row] = await all('SELECT count(*) AS count FROM @.usage_users WHERE account = :account', { account })
    if (Number(row?.['count']) >= most) return (await all(known, { account, user })).length > 0
  }
  throw new Error('a user could neither be registered nor found')
}
