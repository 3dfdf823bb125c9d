import { cursorOf, pageOf, type NamedUser, type UsageStore } from '../index.ts'
import type { Database } from './database.ts'
import { callRecord, insertCall, refusedRecord } from './usage-rows.ts'
import { readDurations } from './usage-durations.ts'
import { usageLife } from './usage-life.ts'
import { readSums } from './usage-sums.ts'
import { listed } from './usage-list.ts'
import { insertRefused } from './usage-refused.ts'

const calls = 'modelhatch_calls c JOIN modelhatch_usage_labels l ON l.label = c.label'

export function sqliteUsage(database: Database): Required<Omit<UsageStore, 'close'>> {
  return {
    append(records) {
      return database.transaction(() => {
        for (const record of records) insertCall(database, record)
      })
    },
    appendRefused: (records) =>
      database.transaction(() => {
        for (const record of records) insertRefused(database, record)
      }),
    find: (id) =>
      database.read(() => {
        const row = database.get(`SELECT * FROM ${calls} WHERE c.id = ?`, id)
        if (row !== undefined) return callRecord(row)
        const other = database.get('SELECT record FROM modelhatch_refused WHERE id = ?', id)
        return other && refusedRecord(other)
      }),
    async list(question) {
      const { limit = 100 } = question
      const found = await listed(database, question, limit + 1)
      return pageOf(found, limit, (last) => cursorOf(last.startedAt, last.id))
    },
    admitUsers: (users, most) => database.transaction(() => users.map((named) => admitUser(database, named, most))),
    durations: (question) => readDurations(database, question),
    ...usageLife(database),
    summarise(question) {
      return readSums(database, question)
    },
  }
}

function admitUser(database: Database, { account, user }: NamedUser, most: number): boolean {
  const known = database.get('SELECT 1 FROM modelhatch_usage_users WHERE account = ? AND "user" = ?', account, user)
  if (known !== undefined) return true
  const count = database.get('SELECT count(*) AS count FROM modelhatch_usage_users WHERE account = ?', account)
  if (Number(count?.['count']) >= most) return false
  return database.run('INSERT INTO modelhatch_usage_users VALUES (?, ?)', account, user) > 0
}
