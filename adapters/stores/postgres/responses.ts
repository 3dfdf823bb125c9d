/** Stored responses, and an index from their items to them. */
import type { ResponseStore } from '../index.ts'
import { responseOf, type TableRow } from '../sql/rows.ts'
import type { Database } from './database.ts'
import { deletion, sweepOf } from './sweep.ts'

/** The tables of stored responses. */
export const responsesSchema: string = `
    CREATE TABLE @.responses (
      account text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      items text NOT NULL,
      body text NOT NULL,
      ends timestamptz NOT NULL,
      PRIMARY KEY (account, id)
    );
    CREATE INDEX ON @.responses (ends);

    CREATE TABLE @.response_items (
      account text COLLATE "C" NOT NULL,
      item text COLLATE "C" NOT NULL,
      response text COLLATE "C" NOT NULL,
      PRIMARY KEY (account, item, response),
      FOREIGN KEY (account, response) REFERENCES @.responses ON DELETE CASCADE
    );
    CREATE INDEX ON @.response_items (account, response);

    CREATE FUNCTION @.put_response(of_account text, new_id text, new_items text, new_body text, age_ms float8)
    RETURNS void LANGUAGE plpgsql AS $f$
    BEGIN
      INSERT INTO @.responses (account, id, items, body, ends)
      VALUES (of_account, new_id, new_items, new_body, clock_timestamp() + age_ms * interval '1 millisecond')
      ON CONFLICT (account, id) DO UPDATE SET items = excluded.items, body = excluded.body, ends = excluded.ends;
      DELETE FROM @.response_items WHERE account = of_account AND response = new_id;
      INSERT INTO @.response_items (account, item, response)
      SELECT DISTINCT of_account, each, new_id FROM jsonb_array_elements_text(new_items::jsonb) each;
    END
    $f$;
`

const getSql = `
  SELECT id, items, body FROM @.responses WHERE account = $1 AND id = $2 AND ends > clock_timestamp()`

const holdingSql = `
  SELECT id, items, body FROM @.response_items i JOIN @.responses r ON r.account = i.account AND r.id = i.response
  WHERE i.account = $1 AND i.item = $2 AND ends > clock_timestamp() LIMIT 1`

const deleteSql = deletion('responses', 'account = $1', 'id')

/** The response store of a schema. Keeps each response for `ageMs` milliseconds. */
export function postgresResponses(database: Database, ageMs: number): Required<ResponseStore> {
  const sweep = sweepOf(database, 'responses')
  const find = async (text: string, account: string, id: string) => {
    sweep.use()
    const [row] = await database.rows<TableRow>(text, [account, id])
    return row && responseOf(account, row)
  }
  return {
    async put({ account, id, items, body }) {
      sweep.use()
      await database.call('put_response', account, id, JSON.stringify(items), body, ageMs)
    },
    get: (account, id) => find(getSql, account, id),
    holding: (account, itemId) => find(holdingSql, account, itemId),
    async delete(account, id) {
      const rows = await database.rows(
        'DELETE FROM @.responses WHERE account = $1 AND id = $2 AND ends > clock_timestamp() RETURNING 1',
        [account, id],
      )
      return rows.length > 0
    },
    deleteAll: async (account) => (await database.manyRows(deleteSql, [account])).length > 0,
    close: () => sweep.close(),
  }
}
