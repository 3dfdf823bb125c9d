/** The parts of the schema, their versions, and the statements that install them. */

/**
 * A step of an upgrade, which runs while requests are served. Every step may be repeated, also by another process.
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

/** One part of the schema. */
export interface Part {
  readonly name: string
  /**
   * Installed in order, each once; a released version never changes. `@.` precedes every name in the schema. The first
   * version creates the part, and every call waits for it. The steps of later versions run in the background: until they are
   * done, this code must work without them, and the code of the previous version must work before, during and after them.
   */
  readonly versions: readonly [string, ...(readonly (readonly Step[])[])]
}

/** A version of a part that is not installed in a schema yet. */
export interface Missing {
  readonly part: string
  readonly version: number
  readonly steps: readonly Step[]
}

/**
 * The statement that creates a schema, or its missing parts, with all their versions: on empty tables, every step is quick.
 * If all parts exist, it changes nothing, so that a role without CREATE privileges can use the schema.
 */
export function creation(schema: string, parts: readonly Part[]): string {
  const wanted = parts.map(({ name }) => `('${name}')`).join(', ')
  return `DO $migration$
    DECLARE
      done int;
    BEGIN
      IF to_regclass('${schema}.migrations') IS NOT NULL THEN
        SELECT count(*) INTO done FROM (VALUES ${wanted}) AS part (name)
        WHERE EXISTS (SELECT FROM @.migrations m WHERE m.part = part.name AND m.version = 1);
        IF done = ${parts.length} THEN
          RETURN;
        END IF;
      END IF;
      PERFORM pg_advisory_xact_lock(hashtext('modelhatch migration'), hashtext('${schema}'));
      CREATE SCHEMA IF NOT EXISTS ${schema};
      CREATE TABLE IF NOT EXISTS @.migrations (
        part text NOT NULL,
        version int NOT NULL,
        at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (part, version)
      );
      ${bookkeeping}
      ${parts.map(installation).join('\n')}
    END
    $migration$`
}

/** Adds to a schema of version 1 the oldest code version that it serves, and the lease of the upgrading process. */
export const bookkeeping = `
  ALTER TABLE @.migrations ADD COLUMN IF NOT EXISTS serves int NOT NULL DEFAULT 1;
  CREATE TABLE IF NOT EXISTS @.upgrades (
    name text PRIMARY KEY,
    holder text NOT NULL,
    ends timestamptz NOT NULL
  );`

/** The statement that records an installed version. `serves`: the oldest code version that can use the schema after it. */
export function recording(part: string, version: number, serves = 1): string {
  return `INSERT INTO @.migrations (part, version, serves) VALUES ('${part}', ${version}, ${serves})
    ON CONFLICT DO NOTHING`
}

/** Selects one row per installed version. A schema of version 1 has no column `serves`. */
export const installedSql = `
  SELECT part, version, coalesce((to_jsonb(m)->>'serves')::int, 1) AS serves FROM @.migrations m`

/** The missing versions in the order of their installation: lower numbers first, because calls may wait for these. */
export function missingOf(
  parts: readonly Part[],
  installed: readonly { readonly part: string; readonly version: number }[],
): Missing[] {
  const known = new Set(installed.map(({ part, version }) => `${part} ${version}`))
  const all = parts.flatMap(({ name, versions: [, ...later] }) =>
    later.map((steps, index) => ({ part: name, version: index + 2, steps })),
  )
  return all
    .filter(({ part, version }) => !known.has(`${part} ${version}`))
    .sort((left, right) => left.version - right.version)
}

function installation({ name, versions: [first, ...later] }: Part): string {
  const versions = [first, ...later.map((steps) => steps.map(atOnce).join(';\n'))]
  const tag = `$${name}_all$`
  return `IF NOT EXISTS (SELECT FROM @.migrations WHERE part = '${name}' AND version = 1) THEN
    ${versions.map((sql, index) => `EXECUTE ${tag}${sql}${tag}; ${recording(name, index + 1)};`).join('\n')}
  END IF;`
}

/** The statements of a step on empty tables, within a transaction. */
function atOnce(step: Step): string {
  if ('run' in step) return step.run
  if ('index' in step) return buildIndex(step, '')
  if ('dropIndex' in step) return `DROP INDEX IF EXISTS @.${step.dropIndex}`
  return ''
}

/** The statement that builds an index, with or without `CONCURRENTLY`. */
export function buildIndex(step: Extract<Step, { index: string }>, how: '' | 'CONCURRENTLY'): string {
  return `CREATE ${step.unique === true ? 'UNIQUE ' : ''}INDEX ${how} ${step.index} ON @.${step.table} ${step.on}`
}
