/** Upgrades a schema while requests are served, by one process at a time. */
import { randomUUID } from 'node:crypto'
import { pause } from '../../../src/http/deadline.ts'
import { bookkeeping, buildIndex, recording, type Missing, type Step } from './migration.ts'

/** Runs one statement, in which `@.` stands for the schema, and waits for it as long as it takes. */
export type Run = (sql: string, values?: unknown[]) => Promise<readonly unknown[]>

/** The lease of the upgrading process in milliseconds, renewed with each step. */
const leaseMs = 30_000
const firstPauseMs = 200
const longestPauseMs = 30_000
/** Maximum milliseconds between two checks of another process's progress. */
const othersPauseMs = 1_000
/** Milliseconds between two repetitions of a step. */
const restMs = 5

/** Milliseconds for which a step waits for the lock of a table: later statements queue behind it. */
const lockMs = 300

export class Upgrade {
  readonly #run: Run
  readonly #missing: Missing[]
  readonly #holder = randomUUID()
  readonly #stop = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly #done: Promise<void>
  #failure: unknown

  /** Begins at once. */
  constructor(run: Run, missing: readonly Missing[]) {
    this.#run = run
    this.#missing = [...missing]
    this.#done = missing.length === 0 ? Promise.resolve() : this.#work()
  }

  /** Resolves when the schema has this version of a part. Rejects with what keeps it from being installed. */
  async has(part: string, version: number): Promise<void> {
    while (this.#missing.some((each) => each.part === part && each.version <= version)) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#stop.signal.aborted) throw new Error('the store was closed')
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Stops after the running step. Another process, or the next one, continues from there. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        if (await this.#leased()) await this.#install()
        else pauseMs = Math.min(pauseMs, othersPauseMs)
        await this.#look()
        this.#failure = undefined
      } catch (error) {
        // The tables were busy, the database is down, or this role may not change them: another attempt, or process, may.
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

  /** Reads what another process has installed meanwhile. */
  async #look(): Promise<void> {
    const rows = (await this.#run('SELECT part, version FROM @.migrations')) as { part: string; version: number }[]
    const known = new Set(rows.map(({ part, version }) => `${part} ${version}`))
    this.#missing.splice(0, Infinity, ...this.#missing.filter(({ part, version }) => !known.has(`${part} ${version}`)))
  }

  async #install(): Promise<void> {
    // A lease may have come from a process that was done with some of it.
    await this.#look()
    for (let next = this.#missing[0]; next !== undefined; next = this.#missing[0]) {
      for (const step of next.steps) {
        if (this.#stop.signal.aborted || !(await this.#renew())) return
        await this.#take(step)
      }
      await this.#run(recording(next.part, next.version))
      this.#missing.shift()
      this.#wake()
    }
    await this.#run(`DELETE FROM @.upgrades WHERE holder = $1`, [this.#holder])
  }

  async #take(step: Step): Promise<void> {
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

  /** An index whose build was interrupted remains in the schema, unusable. */
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
