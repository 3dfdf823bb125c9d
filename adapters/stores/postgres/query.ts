/** A row of a result, by column names. */
export interface Row {
  readonly [column: string]: unknown
}

/** Runs one statement with its parameters. */
export type Query = (text: string, values: unknown[]) => Promise<{ readonly rows: readonly Row[] }>
