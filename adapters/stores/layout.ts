/**
 * The version of what a storage keeps: the tables of Postgres and SQLite, or the keys of Redis. Who may use it, and how tables
 * get from one version to the next.
 */

/**
 * A step in Postgres, which runs while requests are served. Every step may be repeated, also by another process. `@.` precedes
 * every name in the schema.
 *
 * - `run`: statements that are quick for tables of any size, in one transaction.
 * - `index`: builds an index without blocking writers. `on`: its columns, and its condition.
 * - `dropIndex`: drops an index without blocking writers, if it exists.
 * - `repeat`: a statement that does a bounded part of the work, and returns a row while more is left.
 */
export type Step =
  | { readonly run: string }
  | { readonly index: string; readonly table: string; readonly on: string; readonly unique?: boolean }
  | { readonly dropIndex: string }
  | { readonly repeat: string }

/**
 * What leads from one version of the tables to the next. The code of the previous version must work before, during and after
 * it, unless `serves` excludes that; the code of the new version must work before and during it.
 */
export interface Change {
  /** The oldest version of the code that can use the tables afterwards. */
  readonly serves: number
  readonly postgres: readonly Step[]
  /** Statements, which run in one transaction. */
  readonly sqlite: string
}

/** The changes from version 1 to 2, from 2 to 3 and so on. A released change stays as it is. New tables get all of them at once. */
export const changes: readonly Change[] = []

/** A layout as it is recorded in a storage. */
export interface Layout {
  readonly version: number
  /** The oldest version of the code that can use it. */
  readonly serves: number
}

/**
 * Throws if code of `version` cannot use a layout. `what` names the storage in the message, `oldest` is the oldest layout that
 * the code can use or upgrade, and `remedy` is what to do about an older one.
 */
export function requireUsable(
  what: string,
  { version: found, serves }: Layout,
  { version, oldest, remedy }: { readonly version: number; readonly oldest: number; readonly remedy: string },
): void {
  if (serves > version) {
    throw new Error(
      `${what} has layout version ${found}, made by a newer modelhatch, and requires version ${serves} or later; ` +
        `this process has version ${version}: update modelhatch here`,
    )
  }
  if (!(found >= oldest)) throw unknownLayout(what, `layout version ${found}`, remedy)
}

/** The error for a storage with a layout that this code neither knows nor can upgrade. `found`: what shows it. */
export function unknownLayout(what: string, found: string, remedy: string): Error {
  return new Error(`${what} has ${found}, which this version of modelhatch cannot use: ${remedy}`)
}
