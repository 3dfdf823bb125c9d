/** All tables, in their first version. */
import { lotColumns } from '../sql/lots.ts'
import { sqlTables } from '../sql/stores.ts'
import { definitions, dialect } from './dialect.ts'

/**
 * One row per bucket, whose lock serialises all that concerns it, and one per place in use. `held` counts the places of a bucket,
 * so that no call reads all of them; none of their leases ends before `soonest`.
 *
 * A slice holds `count` places.
 */
const limitsTables = `
    CREATE TABLE @.buckets (
      name varbinary(1536) PRIMARY KEY,
      used double NOT NULL DEFAULT 0,
      at double NOT NULL DEFAULT 0,
      held int NOT NULL DEFAULT 0,
      soonest double
    ) ${dialect.table};
    CREATE TABLE @.places (
      bucket varbinary(1536) NOT NULL,
      holder varbinary(1024) NOT NULL,
      ends double NOT NULL,
      count int NOT NULL DEFAULT 1,
      PRIMARY KEY (bucket, holder),
      INDEX places_end (bucket, ends)
    ) ${dialect.table}`

/** Every change of an account locks its row first. Ending a hold deletes it from `holds` and inserts its only row in `entries`. */
const ledgerTables = `
    CREATE TABLE @.accounts (
      id varbinary(1024) PRIMARY KEY,
      balance bigint NOT NULL DEFAULT 0,
      unlimited boolean NOT NULL DEFAULT false,
      name longtext,
      created_at double NOT NULL DEFAULT ${dialect.now},
      ${lotColumns(dialect)},
      INDEX accounts_due (lots_due)
    ) ${dialect.table};
    CREATE TABLE @.holds (
      id varbinary(1024) PRIMARY KEY,
      account varbinary(1024) NOT NULL,
      amount bigint NOT NULL,
      ends double NOT NULL,
      INDEX holds_of (account, ends)
    ) ${dialect.table};
    CREATE TABLE @.entries (
      number bigint AUTO_INCREMENT PRIMARY KEY,
      account varbinary(1024) NOT NULL,
      kind varchar(7) NOT NULL,
      is_credit boolean NOT NULL,
      reference varbinary(2048) NOT NULL,
      amount bigint NOT NULL,
      overage bigint NOT NULL DEFAULT 0,
      note longtext,
      at double NOT NULL DEFAULT ${dialect.now},
      UNIQUE INDEX entries_by (is_credit, reference),
      INDEX entries_of (account, number)
    ) ${dialect.table}`

/**
 * `caps` has one row per cap, whose lock serialises all that concerns it; `cap_use` one per cap and period. What an open hold
 * counts is included in the columns `held_*`, and kept in `cap_holds`. A hold that expires is returned twice: to its account by
 * the next transaction that locks this, and to each of its caps by the next one that locks the cap and finds `soonest` past: no
 * hold in `cap_holds` expires before. A slice counts `calls` calls there. `cap_charges` says where settlements count, for refunds.
 */
const capsTables = `
    CREATE TABLE @.caps (cap varbinary(2048) PRIMARY KEY, soonest double) ${dialect.table};
    CREATE TABLE @.cap_use (
      cap varbinary(2048) NOT NULL,
      start double NOT NULL,
      ends double NOT NULL,
      money bigint NOT NULL,
      tokens bigint NOT NULL,
      calls bigint NOT NULL,
      held_money bigint NOT NULL,
      held_tokens bigint NOT NULL,
      held_calls bigint NOT NULL,
      PRIMARY KEY (cap, start),
      INDEX (ends)
    ) ${dialect.table};
    CREATE TABLE @.cap_holds (
      hold varbinary(1024) NOT NULL,
      cap varbinary(2048) NOT NULL,
      start double NOT NULL,
      money bigint NOT NULL,
      tokens bigint NOT NULL,
      calls int NOT NULL DEFAULT 1,
      PRIMARY KEY (hold, cap),
      INDEX cap_holds_of (cap, hold)
    ) ${dialect.table};
    CREATE TABLE @.cap_charges (
      hold varbinary(1024) PRIMARY KEY,
      account varbinary(1024) NOT NULL,
      refundable bigint NOT NULL,
      caps longtext NOT NULL,
      ends double NOT NULL,
      INDEX (ends)
    ) ${dialect.table};
    CREATE TABLE @.cap_overrides (
      name varbinary(1536) NOT NULL,
      temporary boolean NOT NULL,
      limits longtext NOT NULL,
      until double,
      PRIMARY KEY (name, temporary)
    ) ${dialect.table}`

/** Deletes the items of a response with it. */
const itemsGo = `ALTER TABLE @.response_items
  ADD INDEX (account, response), ADD FOREIGN KEY (account, response) REFERENCES @.responses (account, id) ON DELETE CASCADE`

const layout = `
  CREATE TABLE @.layout (version int PRIMARY KEY, serves int NOT NULL) ${dialect.table};
  INSERT INTO @.layout VALUES (1, 1)`

/** The statements that create them. What is last shows that all the others have run. */
export const tables: readonly string[] = definitions(
  [...sqlTables(dialect), limitsTables, ledgerTables, capsTables, itemsGo, layout].join(';'),
)
