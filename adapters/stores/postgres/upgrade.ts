/** Upgrades a schema while requests are served, by one process at a time. */
import { randomUUID } from 'node:crypto'
import { pause } from '../../../src/http/deadline.ts'
import type { Change, Step } from '../layout.ts'
import { buildIndex, recording } from './migration.ts'

/** Runs one statement, with `@.` replaced by the schema, with a timeout long enough for building an index. */
export type Run = (sql: string, values?: unknown[]) => Promise<readonly unknown[]>

/** The lease of the upgrading process in milliseconds, renewed with each step. */
const leaseMs = 30_000
/** Bounds of the pause before another attempt, in milliseconds. It doubles with each failure. */
const minPauseMs = 200
const maxPauseMs = 30_000
/** Maximum milliseconds between two checks of another process's progress. */
const maxPollMs = 1_000
/** Milliseconds between two repetitions of a step. */
const restMs = 5

/** Milliseconds for which a step waits for the lock of a table: later statements queue behind it. */
const lockMs = 300

/** The upgrade of one schema by this process, or its wait for the process that holds the lease. */
export class Upgrade {
  readonly #run: Run
  readonly #changes: readonly Change[]
  readonly #holder = randomUUID()
  readonly #stop = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly #done: Promise<void>
  #version: number
  #failure: unknown

  /** Starts at once. `version`: that of the tables; `changes[0]` leads from version 1 to 2. */
  constructor(run: Run, version: number, changes: readonly Change[]) {
    this.#run = run
    this.#version = version
    this.#changes = changes
    this.#done = this.#work()
  }

  /** Resolves once the tables have this version. Rejects with the error of the last attempt, or when closed. */
  async has(version: number): Promise<void> {
    while (this.#version < version) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#stop.signal.aborted) throw new Error('the store was closed')
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Stops after the current step. Any process can continue from there. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop
    for (let pauseMs = minPauseMs; this.#next !== undefined; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        if (await this.#renew()) await this.#install()
        else pauseMs = Math.min(pauseMs, maxPollMs)
        await this.#refresh()
        this.#failure = undefined
      } catch (error) {
        // Locked tables, an outage, or missing privileges: a later attempt, or another process, may succeed.
        this.#failure = error
      }
      this.#wake()
      if (signal.aborted) return
      if (this.#next !== undefined) await pause(pauseMs, signal)
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** The change that the tables do not have yet. */
  get #next(): Change | undefined {
    return this.#changes[this.#version - 1]
  }

  async #renew(): Promise<boolean> {
    const rows = await this.#run(
      `INSERT INTO @.upgrades AS old (name, holder, ends)
      VALUES ('schema', $1, clock_timestamp() + $2 * interval '1 millisecond')
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends = excluded.ends
      WHERE old.holder = excluded.holder OR old.ends <= clock_timestamp() RETURNING 1`,
      [this.#holder, leaseMs],
    )
    return rows.length > 0
  }

  /** Another process may have installed some versions. */
  async #refresh(): Promise<void> {
    const [found] = await this.#run('SELECT max(version) AS version FROM @.modelhatch_layout')
    this.#version = Number((found as { version?: unknown } | undefined)?.version)
  }

  async #install(): Promise<void> {
    await this.#refresh()
    for (let next = this.#next; next !== undefined; next = this.#next) {
      for (const step of next.postgres) {
        if (this.#stop.signal.aborted || !(await this.#renew())) return
        await this.#apply(step)
      }
      await this.#run(recording(this.#version + 1, next.serves))
      this.#version++
      this.#wake()
    }
    await this.#run(`DELETE FROM @.upgrades WHERE holder = $1`, [this.#holder])
  }

  async #apply(step: Step): Promise<void> {
    if ('run' in step) {
      await this.#run(`DO $do$ BEGIN SET LOCAL lock_timeout = ${lockMs}; ${asExecuted(step.run)} END $do$`)
    } else if ('index' in step) {
      await this.#build(step)
    } else if ('dropIndex' in step) {
      await this.#run(`DROP INDEX CONCURRENTLY IF EXISTS @.${step.dropIndex}`)
    } else {
      while ((await this.#run(step.repeat)).length > 0) {
        await pause(restMs, this.#stop.signal)
        if (this.#stop.signal.aborted || !(await this.#renew())) throw new Error('the upgrade was interrupted')
      }
    }
  }

  /** Builds an index. An interrupted build leaves an invalid index behind, which is dropped first. */
  async #build(step: Extract<Step, { index: string }>): Promise<void> {
    const [found] = (await this.#run(
      `SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('@.${step.index}')) AS valid,
        EXISTS (SELECT FROM pg_stat_progress_create_index WHERE relid = to_regclass('@.${step.table}')) AS building`,
    )) as { valid: boolean | null; building: boolean }[]
    if (found?.valid === true) return
    if (found?.building === true) throw new Error(`an index of ${step.table} is still being built`)
    if (found?.valid === false) await this.#run(`DROP INDEX CONCURRENTLY IF EXISTS @.${step.index}`)
    await this.#run(buildIndex(step, 'CONCURRENTLY'))
  }
}

function asExecuted(sql: string): string {
  return `EXECUTE $run$${sql}$run$;`
}
