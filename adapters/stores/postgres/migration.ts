/** The schema and its changes over time. */

/**
 * A step of a change that is made while calls are served. Any of them may be repeated, by another process as well.
 *
 * - `run`: statements that are quick whatever the tables hold, as one transaction.
 * - `index`: built without keeping writers out. `on`: its columns, and the condition.
 * - `dropIndex`: likewise. One that a fresh schema never had is no mistake.
 * - `repeat`: a statement that does a bounded part of the work, and returns a row while there is more.
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
   * Run in order, each once, with `@.` in front of every name of ours; one that was released is never changed. The first
   * creates the part, and every call waits for it. Later ones are steps that are taken behind the calls: until they are
   * done, this code must also work without them, and the code of the version before must work throughout.
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
 * The statement that creates a schema, or the parts that it lacks, complete: without rows there is nothing to wait for.
 * It does nothing where all parts exist. A role that may not create anything can so use a schema that another has made.
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

/** What a schema of version 1 lacks: the oldest code that it serves, and the lease of who is changing it. */
export const bookkeeping = `
  ALTER TABLE @.migrations ADD COLUMN IF NOT EXISTS serves int NOT NULL DEFAULT 1;
  CREATE TABLE IF NOT EXISTS @.upgrades (
    name text PRIMARY KEY,
    holder text NOT NULL,
    ends timestamptz NOT NULL
  );`

/** Records that a version is installed. `serves`: the oldest code that can use the schema from now on. */
export function recording(part: string, version: number, serves = 1): string {
  return `INSERT INTO @.migrations (part, version, serves) VALUES ('${part}', ${version}, ${serves})
    ON CONFLICT DO NOTHING`
}

/** One row for each version that is installed. A schema of version 1 records no `serves`. */
export const installedSql = `
  SELECT part, version, coalesce((to_jsonb(m)->>'serves')::int, 1) AS serves FROM @.migrations m`

/** What a schema lacks, in the order in which it is to be installed: the quick second versions before the third ones. */
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

/** A step within a transaction, on tables that are empty. */
function atOnce(step: Step): string {
  if ('run' in step) return step.run
  if ('index' in step) return buildIndex(step, '')
  if ('dropIndex' in step) return `DROP INDEX IF EXISTS @.${step.dropIndex}`
  return ''
}

export function buildIndex(step: Extract<Step, { index: string }>, how: '' | 'CONCURRENTLY'): string {
  return `CREATE ${step.unique === true ? 'UNIQUE ' : ''}INDEX ${how} ${step.index} ON @.${step.table} ${step.on}`
}
