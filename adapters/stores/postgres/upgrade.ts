/** Upgrades a schema while requests are served, by one process at a time. */
import { randomUUID } from 'node:crypto'
import { pause } from '../../../src/http/deadline.ts'
import { bookkeeping, buildIndex, recording, type Missing, type Step } from './migration.ts'

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
  readonly #missing: Missing[]
  readonly #holder = randomUUID()
  readonly #stop = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly #done: Promise<void>
  #failure: unknown

  /** Starts at once. `missing`: the versions to install, in order. */
  constructor(run: Run, missing: readonly Missing[]) {
    this.#run = run
    this.#missing = [...missing]
    this.#done = missing.length === 0 ? Promise.resolve() : this.#work()
  }

  /** Resolves once the schema has this version of a part. Rejects with the error of the last attempt, or when closed. */
  async has(part: string, version: number): Promise<void> {
    while (!this.hasNow(part, version)) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#stop.signal.aborted) throw new Error('the store was closed')
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Whether the schema has this version of a part, as far as this process knows. */
  hasNow(part: string, version: number): boolean {
    return !this.#missing.some((each) => each.part === part && each.version <= version)
  }

  /** Stops after the current step. Any process can continue from there. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        if (await this.#leased()) await this.#install()
        else pauseMs = Math.min(pauseMs, maxPollMs)
        await this.#refresh()
        this.#failure = undefined
      } catch (error) {
        // Locked tables, an outage, or missing privileges: a later attempt, or another process, may succeed.
        this.#failure = error
      }
      this.#wake()
      if (this.#missing.length === 0 || signal.aborted) return
      await pause(pauseMs, signal)
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  async #leased(): Promise<boolean> {
    await this.#run(`DO $do$ BEGIN ${bookkeeping} END $do$`)
    return this.#renew()
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

  /** Removes from the missing versions those that another process has installed. */
  async #refresh(): Promise<void> {
    const rows = (await this.#run('SELECT part, version FROM @.migrations')) as { part: string; version: number }[]
    const known = new Set(rows.map(({ part, version }) => `${part} ${version}`))
    this.#missing.splice(0, Infinity, ...this.#missing.filter(({ part, version }) => !known.has(`${part} ${version}`)))
  }

  async #install(): Promise<void> {
    // The previous holder of the lease may have installed some versions.
    await this.#refresh()
    for (let next = this.#missing[0]; next !== undefined; next = this.#missing[0]) {
      for (const step of next.steps) {
        if (this.#stop.signal.aborted || !(await this.#renew())) return
        await this.#apply(step)
      }
      await this.#run(recording(next.part, next.version))
      this.#missing.shift()
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
