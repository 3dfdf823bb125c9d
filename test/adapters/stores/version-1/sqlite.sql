CREATE TABLE modelhatch_migrations (
part TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (part, version)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE modelhatch_keys (
id TEXT PRIMARY KEY,
hash TEXT NOT NULL UNIQUE,
account TEXT NOT NULL,
created_at REAL NOT NULL,
version INTEGER NOT NULL,
record TEXT NOT NULL,
changed REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE INDEX modelhatch_keys_of ON modelhatch_keys (account, created_at);
CREATE INDEX modelhatch_keys_changed ON modelhatch_keys (changed);
CREATE TABLE modelhatch_buckets (
name TEXT PRIMARY KEY,
used REAL NOT NULL,
at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE TABLE modelhatch_places (
bucket TEXT NOT NULL,
holder TEXT NOT NULL,
ends REAL NOT NULL,
PRIMARY KEY (bucket, holder)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE modelhatch_accounts (
id TEXT PRIMARY KEY,
balance INTEGER NOT NULL DEFAULT 0,
unlimited INTEGER NOT NULL DEFAULT 0,
name TEXT,
created_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE TABLE modelhatch_holds (
id TEXT PRIMARY KEY,
account TEXT NOT NULL REFERENCES modelhatch_accounts,
amount INTEGER NOT NULL,
ends REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE INDEX modelhatch_holds_of ON modelhatch_holds (account, ends);
CREATE TABLE modelhatch_entries (
number INTEGER PRIMARY KEY AUTOINCREMENT,
account TEXT NOT NULL REFERENCES modelhatch_accounts,
kind TEXT NOT NULL,
reference TEXT NOT NULL,
amount INTEGER NOT NULL,
overage INTEGER NOT NULL DEFAULT 0,
note TEXT,
at REAL NOT NULL
    ) STRICT;
CREATE UNIQUE INDEX modelhatch_entries_by ON modelhatch_entries (kind = 'credit', reference);
CREATE INDEX modelhatch_entries_of ON modelhatch_entries (account, number);
CREATE TABLE modelhatch_usage (
id TEXT PRIMARY KEY,
account TEXT NOT NULL,
"group" TEXT NOT NULL,
key TEXT NOT NULL,
model TEXT NOT NULL,
endpoint TEXT NOT NULL,
started_at REAL NOT NULL,
cost INTEGER NOT NULL,
record TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE INDEX modelhatch_usage_of ON modelhatch_usage (account, started_at, id);
CREATE INDEX modelhatch_usage_at ON modelhatch_usage (started_at, id);
CREATE TABLE modelhatch_tasks (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, due_at INTEGER, leased_until INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX modelhatch_tasks_due ON modelhatch_tasks (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX modelhatch_tasks_list ON modelhatch_tasks (tenant, created_at, id);
CREATE TABLE modelhatch_idempotency (
account TEXT NOT NULL,
route TEXT NOT NULL,
key TEXT NOT NULL,
attempt TEXT NOT NULL,
digest TEXT NOT NULL,
ends REAL NOT NULL,
ended INTEGER NOT NULL DEFAULT 0,
status INTEGER,
headers TEXT,
body BLOB,
PRIMARY KEY (account, route, key)
    ) STRICT;
CREATE INDEX modelhatch_idempotency_ends ON modelhatch_idempotency (ends);
CREATE TABLE modelhatch_responses (
account TEXT NOT NULL,
id TEXT NOT NULL,
ends REAL NOT NULL,
items TEXT NOT NULL,
body TEXT NOT NULL,
PRIMARY KEY (account, id)
    ) STRICT;
CREATE INDEX modelhatch_responses_ends ON modelhatch_responses (ends);
CREATE TABLE modelhatch_response_items (
account TEXT NOT NULL,
item TEXT NOT NULL,
response TEXT NOT NULL,
PRIMARY KEY (account, item, response)
    ) STRICT, WITHOUT ROWID;
CREATE TRIGGER modelhatch_responses_gone AFTER DELETE ON modelhatch_responses BEGIN
DELETE FROM modelhatch_response_items WHERE account = old.account AND response = old.id
  AND item IN (SELECT value FROM json_each(old.items));
    END;
INSERT INTO modelhatch_migrations VALUES ('idempotency', 1);
INSERT INTO modelhatch_migrations VALUES ('keys', 1);
INSERT INTO modelhatch_migrations VALUES ('ledger', 1);
INSERT INTO modelhatch_migrations VALUES ('limits', 1);
INSERT INTO modelhatch_migrations VALUES ('responses', 1);
INSERT INTO modelhatch_migrations VALUES ('tasks', 1);
INSERT INTO modelhatch_migrations VALUES ('usage', 1);
