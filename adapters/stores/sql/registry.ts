/** Models, groups and prices: a row each, which is replaced if its version is the one before. */
import type { Json, RegistryEntry, RegistryStore } from '../index.ts'
import type { ChangePoll } from '../change-poll.ts'
import { objectIn } from '../unreadable.ts'
import type { Dialect, Sql, TableRow } from './sql.ts'

export function registryTable({ types: { name, text, integer, real }, keyed, index }: Dialect): string {
  return `
    CREATE TABLE @.registry (
      kind ${name} NOT NULL,
      id ${name} NOT NULL,
      version ${integer} NOT NULL,
      value ${text},
      changed ${real} NOT NULL,
      PRIMARY KEY (kind, id)
    ) ${keyed};
    CREATE INDEX ${index}registry_changed ON @.registry (changed);`
}

export function sqlRegistry({ dialect: { now }, many, insert, run }: Sql, changes: ChangePoll): RegistryStore {
  return {
    all: async () => (await many('SELECT kind, id, version, value FROM @.registry')).map(entryOf),
    async put({ value, ...entry }) {
      const values = { ...entry, value: value === undefined ? null : JSON.stringify(value) }
      if (entry.version === 1) {
        return insert(
          `INSERT INTO @.registry (kind, id, version, value, changed) VALUES (:kind, :id, :version, :value, ${now})`,
          values,
        )
      }
      const set = `version = :version, value = :value, changed = ${now}`
      const text = `UPDATE @.registry SET ${set} WHERE kind = :kind AND id = :id AND version + 1 = :version`
      return (await run(text, values)) > 0
    },
    watch: (changed) => changes.watchRegistry(changed),
  }
}

function entryOf({ kind, id, version, value }: TableRow): RegistryEntry {
  const entry = { kind: kind as RegistryEntry['kind'], id: id as string, version: Number(version) }
  // What cannot be read breaks the rules of its kind.
  return value === null ? entry : { ...entry, value: (objectIn(value) as Json | undefined) ?? null }
}
