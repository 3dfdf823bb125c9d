/** The schema and its changes over time. */

/** One part of the schema. Its versions are run in order, each once; one that was released is never changed. */
export interface Part {
  readonly name: string
  /** Statements, with `@.` in front of every name of ours. */
  readonly versions: readonly string[]
}

/**
 * The statements that bring a schema up to date: one that tells what is there, and does nothing more where that is all.
 * A role that may not create anything can so use a schema that another has made.
 */
export function migration(schema: string, parts: readonly Part[]): string[] {
  const steps = parts.flatMap(({ name, versions }) => versions.map((sql, index) => step(name, index + 1, sql)))
  const wanted = parts.map(({ name, versions }) => `('${name}', ${versions.length})`).join(', ')
  return [
    `DO $migration$
    DECLARE
      done int;
    BEGIN
      IF to_regclass('${schema}.migrations') IS NOT NULL THEN
        SELECT count(*) INTO done FROM (VALUES ${wanted}) AS part (name, version)
        WHERE EXISTS (SELECT FROM @.migrations m WHERE m.part = part.name AND m.version = part.version);
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
      ${steps.join('\n')}
    END
    $migration$`,
  ]
}

function step(part: string, version: number, sql: string): string {
  return `IF NOT EXISTS (SELECT FROM @.migrations WHERE part = '${part}' AND version = ${version}) THEN
    EXECUTE $${part}_${version}$${sql}$${part}_${version}$;
    INSERT INTO @.migrations (part, version) VALUES ('${part}', ${version});
  END IF;`
}
