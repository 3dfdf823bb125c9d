/**
 * The tables of caps, one row of `cap_use` per cap and period. What open holds count is added there, and in `cap_holds` per
 * hold. A trigger takes it off when a hold ends. `cap_charges` says where settlements count, for refunds.
 */
export const capsSchema: string = `
    CREATE TABLE modelhatch_cap_use (
      name TEXT NOT NULL,
      window TEXT NOT NULL,
      start REAL NOT NULL,
      ends REAL NOT NULL,
      money INTEGER NOT NULL DEFAULT 0,
      tokens INTEGER NOT NULL DEFAULT 0,
      calls INTEGER NOT NULL DEFAULT 0,
      held_money INTEGER NOT NULL DEFAULT 0,
      held_tokens INTEGER NOT NULL DEFAULT 0,
      held_calls INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (name, window, start)
    ) STRICT;
    CREATE INDEX modelhatch_cap_use_ends ON modelhatch_cap_use (ends);
    CREATE TABLE modelhatch_cap_holds (
      hold TEXT NOT NULL,
      name TEXT NOT NULL,
      window TEXT NOT NULL,
      start REAL NOT NULL,
      tokens INTEGER NOT NULL,
      PRIMARY KEY (hold, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER modelhatch_cap_holds_gone AFTER DELETE ON modelhatch_holds BEGIN
      UPDATE modelhatch_cap_use SET held_money = held_money - old.amount, held_tokens = held_tokens - h.tokens,
        held_calls = held_calls - 1
      FROM modelhatch_cap_holds h
      WHERE h.hold = old.id AND modelhatch_cap_use.name = h.name AND modelhatch_cap_use.window = h.window
        AND modelhatch_cap_use.start = h.start;
      DELETE FROM modelhatch_cap_holds WHERE hold = old.id;
    END;
    CREATE INDEX modelhatch_holds_ends ON modelhatch_holds (ends);
    CREATE TABLE modelhatch_cap_charges (
      hold TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      refundable INTEGER NOT NULL,
      caps TEXT NOT NULL,
      ends REAL NOT NULL
    ) STRICT;
    CREATE INDEX modelhatch_cap_charges_ends ON modelhatch_cap_charges (ends);
    CREATE TABLE modelhatch_cap_overrides (
      name TEXT NOT NULL,
      temporary INTEGER NOT NULL,
      limits TEXT NOT NULL,
      until REAL,
      PRIMARY KEY (name, temporary)
    ) STRICT, WITHOUT ROWID;
`
