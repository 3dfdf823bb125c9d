/** Times for tests on a busy machine, which may take seconds over one statement of a database. */
import type { Timeouts } from '../src/index.ts'

/** For how long a store waits for a statement. */
export const statementMs = 20_000

/** For how long a gateway waits for its stores. */
export const storeTimeouts: Timeouts = { storeMs: statementMs, authMs: statementMs, pageMs: 60_000 }
