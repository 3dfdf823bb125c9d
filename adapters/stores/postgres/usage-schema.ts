/** What adds usage in Postgres: a function, because unlike a statement it can bound how long it waits for locks. */
import { columnOf } from '../sql/sql.ts'
import { callTable } from '../sql/usage-columns.ts'
import { addingCalls } from '../sql/usage-tables.ts'
import { plannedOnce } from './batch-columns.ts'
import { dialect, valueOf } from './dialect.ts'

const columns = callTable.map(([name]) => columnOf(name)).join(', ')
const [days, quarters] = addingCalls(dialect, 'new')

/** Adds rows, and returns how many have no label. A label is read by a subquery: for a join the planner may read all of them. */
export const usageSchema: string = `
  ALTER TABLE @.usage_days SET (fillfactor = 85);
  ALTER TABLE @.usage_quarters SET (fillfactor = 85);
  CREATE FUNCTION @.append_usage(records jsonb) RETURNS int LANGUAGE plpgsql
  ${plannedOnce} AS $f$
  DECLARE
    missing int;
  BEGIN
    WITH given AS MATERIALIZED (
      SELECT (SELECT l.label FROM @.usage_labels l WHERE l.digest = item ->> 'digest') AS label,
        ${callTable.map((column) => `${valueOf(column)} AS ${columnOf(column[0])}`).join(', ')}
      FROM jsonb_array_elements(records) item
    ), new AS (
      INSERT INTO @.calls (label, ${columns}) SELECT label, ${columns} FROM given WHERE label IS NOT NULL
      ORDER BY id ON CONFLICT DO NOTHING RETURNING *
    ), days AS (${days}), quarters AS (${quarters})
    SELECT count(*) INTO missing FROM given WHERE label IS NULL;
    RETURN missing;
  END
  $f$`
