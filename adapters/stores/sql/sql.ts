/** A row of either client. Numbers may come as bigint or text. */
export type TableRow = Readonly<Record<string, unknown>>

/** The values of a row in the order of its columns. */
export type TableList = readonly (string | number | null)[]

/** Values of a statement, by their names in it. */
export type Values = Readonly<Record<string, unknown>>

/** A SQL database. In statements, `@.` precedes the names of tables, and `:name` is a parameter. */
export interface Sql {
  readonly dialect: Dialect
  /** The rows of a statement. */
  readonly all: (text: string, values?: Values) => Promise<readonly TableRow[]>
  /** The same, of a statement that may read many rows and so has more time. */
  readonly many: (text: string, values?: Values) => Promise<readonly TableRow[]>
  /** Inserts a row, unless its key exists. Returns whether it did. */
  readonly insert: (text: string, values: Values) => Promise<boolean>
  /** The number of rows that a statement changes or deletes. */
  readonly run: (text: string, values?: Values) => Promise<number>
  /**
   * Runs several statements in one transaction. A list, because a function that awaits would hold locks meanwhile; and none may
   * depend on what another one changes, because Postgres runs them as one statement.
   */
  readonly batch: (texts: readonly string[], values?: Values) => Promise<void>
  /**
   * Changes rows, selected by a condition of `dialect.some`, and returns them. Locks nothing if there are none, because sweeps
   * find none most of the time. `key`: the columns of their primary key.
   */
  readonly change: (
    table: string,
    set: string,
    some: string,
    values: Values & { readonly key: string },
  ) => Promise<readonly TableRow[]>
  /** What inserts rows into a table, except those whose key exists. */
  readonly inserting: (table: string, columns: readonly Column[]) => (rows: readonly Values[]) => Promise<void>
  /** Runs a statement that does a part of the work: on at most `dialect.part` rows. Returns whether there may be more. */
  readonly part: (text: string, values?: Values) => Promise<boolean>
  /** The rows of a query with each of several `items` as further values, in any order. `tail`: only the first rows are needed. */
  readonly ofEach: (text: string, items: Items, values: Values, tail?: Tail) => Promise<readonly TableRow[]>
  readonly usage: UsageStatements
}

/** Values of several runs of a query, by their names, which are `columns`. */
export interface Items {
  readonly columns: readonly Column[]
  readonly rows: readonly Values[]
}

/** The order of rows and how many are needed. More may be returned, in another order. */
export interface Tail {
  readonly order?: string
  readonly most: number
}

/** What each database does in its own way with requests `c` and their labels `l`. */
export interface UsageStatements {
  /**
   * Adds requests to `calls`, unless their ids exist, and to the sums, as `callRow` makes them. Adds none or a part of them and
   * returns false if a label does not exist.
   */
  readonly append: (rows: readonly Values[]) => Promise<boolean>
  /**
   * Reads what may be many rows. `text` makes a statement of the rows of all sources (`isAll`), or of a part of one: SQLite
   * reads one part after the other, between which other calls run. `owner`: the conditions on labels in the sources. Ends if
   * `take` returns false.
   */
  readonly inParts: (
    sources: readonly Source[],
    owner: Owner,
    text: (rows: string, isAll: boolean) => string,
    values: Values,
    take: (rows: readonly TableRow[]) => boolean | void,
  ) => Promise<void>
  /**
   * Reads labels and sums with their label, as lists, where it is faster to add these up here than in the database. `names` and
   * `sums`: statements for the labels `l` that some conditions select.
   */
  readonly labelled?: (
    owner: Owner,
    names: (some: readonly string[]) => string,
    sums: (some: readonly string[]) => string,
    values: Values,
    take: (labels: readonly TableList[], sums: readonly TableList[]) => void,
  ) => Promise<void>
  /** The newest rows of a table. `scanned`: conditions to which no index leads. */
  readonly newest: (
    columns: string,
    table: string,
    conditions: { readonly indexed: readonly string[]; readonly scanned: readonly string[] },
    values: Values,
    limit: number,
  ) => Promise<readonly TableRow[]>
}

/** Rows that are read: of each label, or of the requests between two times. `some`: conditions that select a part of them. */
export interface Source {
  readonly rows: (some: readonly string[]) => string
  readonly times?: { readonly from: number; readonly to: number; readonly filter: readonly string[] }
}

/** Which labels are read. */
export interface Owner {
  readonly conditions: readonly string[]
  /** Those without account and key. */
  readonly isWhole?: boolean
  /** Whether no index leads to them. */
  readonly isScan: boolean
}

/**
 * `name`: a text that is compared byte by byte. `text`: one that is not compared. `json`: JSON that conditions look into. `int`: an integer of 32 bits. `count`:
 * a number that is added up. `identity`: the primary key that the database assigns. `numbered`: the same with 64
 * bits, which is never assigned again.
 */
export type ColumnType =
  | 'name'
  | 'text'
  | 'json'
  | 'integer'
  | 'int'
  | 'real'
  | 'count'
  | 'flag'
  | 'bytes'
  | 'identity'
  | 'numbered'

/** A column of a table, by the name of its values. */
export type Column = readonly [name: string, type: ColumnType]

/** JSON of a text that may have been damaged: functions of the databases fail on anything else. */
export function sound(json: string): string {
  return `CASE WHEN json_valid(${json}) THEN ${json} END`
}

/** In what the databases differ. */
export interface Dialect {
  /** Types of columns. */
  readonly types: Readonly<Record<ColumnType, string>>
  /** What follows the columns of a table, and of a table whose rows are found by their primary key only. */
  readonly table: string
  readonly keyed: string
  /** What precedes the name of an index. */
  readonly index: string
  /** Milliseconds since the epoch by the database's clock, the same within a statement. */
  readonly now: string
  readonly part: number
  readonly contains: (text: string, part: string) => string
  /** The text with letters of ASCII in lower case. */
  readonly lower: (text: string) => string
  /** A field of an object in JSON, as text. */
  readonly field: (json: string, name: string) => string
  /** The same of a list, as JSON. */
  readonly list: (json: string, name: string) => string
  /** Whether a list in JSON has a text. */
  readonly has: (list: string, text: string) => string
  /**
   * A query for the texts of a list in JSON, each an `item`. `table` and `which`: the rows that have the list, if it is a column.
   * The table is called `own` there.
   */
  readonly each: (list: string, table?: string, which?: string) => string
  /** What follows `CROSS JOIN` to get the elements of a list of objects in JSON, called `element`; and the text of a field of one. */
  readonly elements: (list: string, fields: readonly string[]) => string
  readonly member: (field: string) => string
  /** Whether a value is in the result of a query, which is evaluated first. */
  readonly among: (value: string, query: string) => string
  /**
   * The condition for some rows of a table, for statements that change them. `which`: a condition with order and limit. `key`:
   * the columns that identify a row of a `keyed` table. `skips`: leaves out rows that another process is changing, instead of
   * waiting for it.
   */
  readonly some: (table: string, which: string, how?: { readonly key?: string; readonly skips?: boolean }) => string
  /** What ends an insertion of rows, those whose key exists excepted. `key`: a column of it. */
  readonly existing: (key: string) => string
  /** What ends an insertion of rows that replace those with the same key, in these columns. */
  readonly replacing: (key: string, columns: readonly string[]) => string
  /** The statement that inserts the rows of a query, or adds `added` to rows with the same `keys`. None of them is negative. */
  readonly adding: (table: string, keys: readonly string[], added: readonly string[], query: string) => string
  /** A join that reads its left side first, where the planner must be told. */
  readonly first: string
  /**
   * A query for columns of labels `l` with those of their sums, of all parts. `few`: whether the labels are few, or found by an
   * index, so that the sums of each of them are read.
   */
  readonly ofLabels: (columns: string, labels: readonly string[], parts: readonly SumPart[], few: boolean) => string
}

/** Rows of a table of sums: those of which the `number` is in a range, and which meet further conditions. */
export interface SumPart {
  readonly table: string
  /** Each with an expression and its name. */
  readonly columns: readonly (readonly [expression: string, name: string])[]
  readonly range: readonly [begin: string, end: string]
  readonly conditions: readonly string[]
}

/** A column of a part in a query. */
export function named([expression, name]: SumPart['columns'][number]): string {
  return `${expression} AS ${name}`
}

/** `Dialect.ofLabels`, with a join of each part. `from`: the labels, and how they are joined. */
export function joiningLabels(from: string): Dialect['ofLabels'] {
  return (columns, labels, parts) =>
    parts
      .map(({ table, columns: own, range: [begin, end], conditions }) => {
        const all = [...labels, `number >= ${begin}`, `number < ${end}`, ...conditions]
        return `SELECT ${columns}, ${own.map(named).join(', ')} FROM ${from} ${table} s ON s.label = l.label ${where(all)}`
      })
      .join('\nUNION ALL ')
}

/** Number of statements that are remembered. */
const mostKnown = 2_000

/**
 * Makes of a statement and its values that of a client, with its marks instead of names, and the values in their order. `translated`:
 * into what a database understands. Remembers the statements.
 */
export function marking(
  tables: string,
  mark: (place: number) => string,
  translated: (text: string) => string = (text) => text,
): (text: string, values: Values) => [text: string, values: unknown[]] {
  const known = new Map<string, { readonly text: string; readonly names: readonly string[] }>()
  return (text, values) => {
    let made = known.get(text)
    if (made === undefined) {
      const names: string[] = []
      const marked = text.replaceAll(/(?<!:):([a-z]\w*)/gi, (_, name: string) => mark(names.push(name)))
      made = { text: translated(marked.replaceAll('@.', tables)), names }
      if (known.size === mostKnown) known.clear()
      known.set(text, made)
    }
    return [made.text, made.names.map((name) => values[name] ?? null)]
  }
}

/** Number of rows that are taken in one turn of the event loop. */
const mostAtOnce = 500

/** How databases read usage that need not read in parts. */
export function readingAtOnce(many: Sql['many']): Pick<UsageStatements, 'inParts' | 'newest'> {
  return {
    async inParts(sources, _owner, text, values, take) {
      const rows = sources.map((source) => source.rows([]))
      const found = rows.length === 0 ? [] : await many(text(rows.join('\nUNION ALL '), true), values)
      for (let at = 0; at < found.length; at += mostAtOnce) {
        if (at > 0) await new Promise(setImmediate)
        if (take(found.slice(at, at + mostAtOnce)) === false) return
      }
    },
    newest: (columns, table, { indexed, scanned }, values, most) =>
      many(
        `SELECT ${columns} FROM @.${table} ${where([...indexed, ...scanned])} ORDER BY started_at DESC, id DESC LIMIT :most`,
        { ...values, most },
      ),
  }
}

/** `Dialect.adding`, with `ON CONFLICT`. */
export const adding: Dialect['adding'] = (table, keys, added, query) => {
  const sums = added.map((name) => `${name} = coalesce(old.${name} + excluded.${name}, old.${name}, excluded.${name})`)
  return `INSERT INTO @.${table} AS old (${[...keys, ...added].join(', ')}) ${query}
    ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${sums.join(', ')}`
}

/** `Dialect.replacing`, with `ON CONFLICT`. */
export function replacing(key: string, columns: readonly string[]): string {
  return `ON CONFLICT (${key}) DO UPDATE SET ${columns.map((each) => `${each} = excluded.${each}`).join(', ')}`
}

/** The conditions of the fields that are given, after `WHERE`, or nothing. */
export function where(conditions: readonly (string | false)[]): string {
  const given = conditions.filter((each) => each !== false)
  return given.length === 0 ? '' : `WHERE ${given.join(' AND ')}`
}

export function columnOf(name: string): string {
  return `"${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`
}

/** For `JSON.stringify`: amounts as text, because numbers in JSON are exact only up to 2^53. */
export function bigintsAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
