/** The statements that create the tables, and those that change them. */
import type { Change, Step } from '../layout.ts'

/**
 * The statement that creates `tables`, those of version 1, and applies all changes to them: on empty tables, every step is quick. If there are any, it
 * changes nothing, so that a role without CREATE privileges can use the schema.
 */
export function creation(schema: string, tables: string, changes: readonly Change[]): string {
  const steps = changes.flatMap(({ postgres }) => postgres.map(atOnce))
  return `DO $layout$
    BEGIN
      IF to_regclass('@.modelhatch_layout') IS NOT NULL THEN
        RETURN;
      END IF;
      PERFORM pg_advisory_xact_lock(hashtext('modelhatch layout'), hashtext('${schema}'));
      -- Read from the catalog, because the cache behind to_regclass does not see what another process has just created.
      IF EXISTS (SELECT FROM pg_tables WHERE schemaname = '${schema}' AND tablename = 'modelhatch_layout') THEN
        RETURN;
      END IF;
      IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') THEN
        CREATE SCHEMA ${schema};
      END IF;
      EXECUTE $tables$
        CREATE TABLE @.modelhatch_layout (
          version int PRIMARY KEY,
          serves int NOT NULL,
          at timestamptz NOT NULL DEFAULT now()
        );
        -- The lease of the process that upgrades.
        CREATE TABLE @.upgrades (
          name text PRIMARY KEY,
          holder text NOT NULL,
          ends timestamptz NOT NULL
        );
        ${tables};
        ${[...steps, ...[{ serves: 1 }, ...changes].map(({ serves }, index) => recording(index + 1, serves))].join(';\n')}
      $tables$;
    END
    $layout$`
}

/** The statement that records that the tables have a version. */
export function recording(version: number, serves: number): string {
  return `INSERT INTO @.modelhatch_layout (version, serves) VALUES (${version}, ${serves}) ON CONFLICT DO NOTHING`
}

/** The statements of a step on empty tables, within a transaction. */
function atOnce(step: Step): string {
  if ('run' in step) return step.run
  if ('index' in step) return buildIndex(step, '')
  return 'dropIndex' in step ? `DROP INDEX IF EXISTS @.${step.dropIndex}` : 'SELECT'
}

/** The statement that builds an index, with or without `CONCURRENTLY`. */
export function buildIndex(step: Extract<Step, { index: string }>, how: '' | 'CONCURRENTLY'): string {
  return `CREATE ${step.unique === true ? 'UNIQUE ' : ''}INDEX ${how} ${step.index} ON @.${step.table} ${step.on}`
}
