import { sums } from '../sql/usage-columns.ts'

const columns = Object.values(sums)
const quarter = `(CAST(new.started_at / 900000 AS INTEGER) - (new.started_at < CAST(new.started_at / 900000 AS INTEGER) * 900000))`

/**
 * The fields that the requests of one account, key and model share are stored once, as a label, so that the row of a request
 * is narrow. A trigger adds each request to the sums of its quarter of an hour, both for its label and for the label
 * without account and key (`within`), which serves statistics over all accounts. Costs are summed in two parts, so that
 * neither can overflow.
 */
const tables = `
  CREATE TABLE modelhatch_usage_labels (
    label INTEGER PRIMARY KEY,
    within INTEGER,
    account TEXT,
    key TEXT,
    "group" TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT,
    provider_model TEXT,
    "user" TEXT,
    tags TEXT
  ) STRICT;
  CREATE INDEX modelhatch_usage_labels_of ON modelhatch_usage_labels (account, key, model);
  CREATE INDEX modelhatch_usage_labels_by ON modelhatch_usage_labels (key, model);
  CREATE TABLE modelhatch_calls (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    label INTEGER NOT NULL,
    started_at REAL NOT NULL,
    total_ms REAL NOT NULL,
    first_byte_ms REAL,
    cost INTEGER NOT NULL,
    overage INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    ${columns.map((name) => `${name} REAL NOT NULL`).join(', ')},
    outcome TEXT,
    code TEXT,
    basis TEXT,
    session TEXT,
    attempts INTEGER,
    lines TEXT,
    attempt_log TEXT,
    agent TEXT
  ) STRICT;
  CREATE INDEX modelhatch_calls_of ON modelhatch_calls (label, started_at);
  CREATE INDEX modelhatch_calls_at ON modelhatch_calls (started_at);
  CREATE TABLE modelhatch_usage_sums (
    label INTEGER NOT NULL,
    quarter INTEGER NOT NULL,
    requests INTEGER NOT NULL DEFAULT 0,
    incomplete INTEGER NOT NULL DEFAULT 0,
    ${columns.map((name) => `${name} REAL NOT NULL DEFAULT 0`).join(', ')},
    cost_high INTEGER NOT NULL DEFAULT 0,
    cost_low INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (label, quarter)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER modelhatch_calls_summed AFTER INSERT ON modelhatch_calls BEGIN
    INSERT INTO modelhatch_usage_sums (label, quarter)
    SELECT label, ${quarter} FROM (
      SELECT new.label AS label UNION ALL SELECT within FROM modelhatch_usage_labels WHERE label = new.label
    ) each WHERE NOT EXISTS (
      SELECT 1 FROM modelhatch_usage_sums s WHERE s.label = each.label AND s.quarter = ${quarter}
    );
    UPDATE modelhatch_usage_sums SET
      requests = requests + 1, incomplete = incomplete + (new.outcome IS NOT NULL),
      ${columns.map((name) => `${name} = ${name} + new.${name}`).join(', ')},
      cost_high = cost_high + (new.cost >> 32), cost_low = cost_low + (new.cost & 4294967295)
    WHERE quarter = ${quarter}
      AND label IN (new.label, (SELECT within FROM modelhatch_usage_labels WHERE label = new.label));
  END;
`

const attribution = `
  CREATE INDEX modelhatch_usage_labels_user ON modelhatch_usage_labels (account, key, model, "user");
  CREATE INDEX modelhatch_calls_session ON modelhatch_calls (session, started_at) WHERE session IS NOT NULL;
  CREATE INDEX modelhatch_calls_session_of ON modelhatch_calls (label) WHERE session IS NOT NULL;
  CREATE INDEX modelhatch_calls_outcome ON modelhatch_calls (outcome, started_at) WHERE outcome IS NOT NULL;
  CREATE INDEX modelhatch_calls_outcome_of ON modelhatch_calls (label, outcome, started_at) WHERE outcome IS NOT NULL;
  CREATE INDEX modelhatch_calls_code ON modelhatch_calls (code, started_at) WHERE code IS NOT NULL;
  CREATE TABLE modelhatch_usage_users (
    account TEXT NOT NULL,
    "user" TEXT NOT NULL,
    PRIMARY KEY (account, "user")
  ) STRICT, WITHOUT ROWID;
`

/**
 * The attempts of a request as text, see `attempt-log.ts`. Refused requests have a table of their own, which no trigger adds
 * to the sums, and no labels: the model names in them are chosen by clients.
 */
const requestLog = `
  CREATE INDEX modelhatch_usage_labels_model ON modelhatch_usage_labels (model) WHERE within IS NOT NULL;
  CREATE INDEX modelhatch_usage_labels_person ON modelhatch_usage_labels ("user") WHERE "user" IS NOT NULL;
  CREATE INDEX modelhatch_calls_code_of ON modelhatch_calls (label, code, started_at) WHERE code IS NOT NULL;
  CREATE TABLE modelhatch_refused (
    id TEXT PRIMARY KEY,
    started_at REAL NOT NULL,
    account TEXT NOT NULL,
    key TEXT,
    model TEXT NOT NULL,
    "user" TEXT,
    session TEXT,
    code TEXT,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX modelhatch_refused_at ON modelhatch_refused (started_at, id);
  CREATE INDEX modelhatch_refused_of ON modelhatch_refused (account, started_at, id);
  CREATE INDEX modelhatch_refused_key ON modelhatch_refused (key, started_at, id) WHERE key IS NOT NULL;
  CREATE INDEX modelhatch_refused_model ON modelhatch_refused (model, started_at, id);
  CREATE INDEX modelhatch_refused_user ON modelhatch_refused ("user", started_at, id) WHERE "user" IS NOT NULL;
  CREATE INDEX modelhatch_refused_session ON modelhatch_refused (session, started_at, id) WHERE session IS NOT NULL;
  CREATE INDEX modelhatch_refused_code ON modelhatch_refused (code, started_at, id) WHERE code IS NOT NULL;
`

/** The tables of usage. */
export const usageSchema: string = tables + attribution + requestLog
