/** What a run measures, and for how long: from the words of its command line. */
import { scenarios, type Scenario } from './traffic.ts'

const parts = ['cpu', 'latency', 'delay', 'memory', 'cluster', 'translators'] as const

export type Part = (typeof parts)[number]

export interface Plan {
  readonly quick: boolean
  readonly parts: readonly Part[]
  readonly columns: readonly Scenario[]
  /** Kinds of servers; undefined: all. */
  readonly servers: readonly string[] | undefined
  /** Other versions of Node, such as `22` or `22.19`. */
  readonly nodes: readonly string[]
  /** Whether to write the results into the README. */
  readonly readme: boolean
  readonly rounds: number
  /** Milliseconds of a measurement of CPU time. */
  readonly slotMs: number
  /** Milliseconds for which each server is warmed. */
  readonly warmMs: number
  /** Open streams whose memory is measured, and bytes of the messages of each. */
  readonly streams: number
  readonly bodyBytes: number
  /** Requests per second of the measurement of latency. */
  readonly perSecond: number
}

export function planOf(words: readonly string[]): Plan {
  const valueOf = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
  const list = (name: string) => valueOf(name)?.split(',')
  const number = (name: string, otherwise: number) => Number(valueOf(name) ?? otherwise)
  const chosen = <Item extends string>(name: string, all: readonly Item[], otherwise: readonly Item[] = all) => {
    const wanted = list(name) ?? otherwise
    const unknown = wanted.filter((each) => !all.includes(each as Item))
    if (unknown.length > 0) throw new Error(`--${name}: ${unknown.join(', ')} is none of ${all.join(', ')}`)
    return wanted as readonly Item[]
  }
  const columns = chosen(
    'only',
    scenarios.map(({ name }) => name),
    scenarios.filter(({ onlyIfNamed }) => onlyIfNamed !== true).map(({ name }) => name),
  )
  const quick = words.includes('--quick')
  return {
    quick,
    parts: list('only') !== undefined && list('parts') === undefined ? ['cpu'] : chosen('parts', parts),
    columns: scenarios.filter(({ name }) => columns.includes(name)),
    servers: list('servers'),
    nodes: list('nodes') ?? [],
    readme: words.includes('--readme'),
    rounds: number('rounds', quick ? 3 : 9),
    slotMs: number('slot', quick ? 150 : 300),
    warmMs: 1_000 * number('warm', quick ? 1 : 10),
    streams: number('streams', quick ? 500 : 5_000),
    bodyBytes: 1_024 * number('kilobytes', 100),
    perSecond: number('rate', 300),
  }
}
