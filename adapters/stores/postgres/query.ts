/** All that is needed of a Postgres client: one function. `pg.Pool` and PGlite fit as they are. */
export interface Row {
  readonly [column: string]: unknown
}

export type Query = (text: string, values: unknown[]) => Promise<{ readonly rows: readonly Row[] }>
