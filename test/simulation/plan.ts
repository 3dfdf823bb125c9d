/** What happens in one history: everything that a seed decides in advance, as a list that can be shortened. */
import { seeded } from '../../src/testing/random.ts'

export type Place = 'ledger' | 'limits' | 'tasks' | 'idempotency' | 'vendor'

/** What becomes of a call of a store. `repeated`: it is carried out a second time, later. */
export type Fate = 'refused' | 'lost' | 'unanswered' | 'failed after commit' | 'late' | 'repeated'

export interface Chat {
  readonly do: 'chat'
  readonly at: number
  readonly account: string
  readonly process: number
  readonly stream: boolean
  readonly maxTokens: number
  /** Output tokens that the vendor writes, in `pieces` pieces with a pause before each. */
  readonly tokens: number
  readonly pieces: number
  readonly pauseMs: number
  readonly vendor: 'answers' | 'refuses' | 'breaks off' | 'refuses once'
  /** The `Idempotency-Key`. All calls with one key are the same request. */
  readonly key?: string
  readonly leavesMs?: number
}

export interface Video {
  readonly do: 'video'
  readonly at: number
  readonly account: string
  readonly process: number
  readonly key: string
  readonly seconds: number
  readonly takesMs: number
  readonly fails: boolean
  readonly deletedMs?: number
}

export type Event =
  | Chat
  | Video
  | {
      readonly do: 'topUp'
      readonly at: number
      readonly process: number
      readonly account: string
      readonly amount: number
    }
  | { readonly do: 'refund' | 'limit'; readonly at: number; readonly process: number; readonly part: number }
  | {
      readonly do: 'kill' | 'deploy' | 'suspend' | 'jump'
      readonly at: number
      readonly process: number
      readonly ms: number
    }
  | { readonly do: 'outage'; readonly at: number; readonly ms: number; readonly place: Place; readonly fate: Fate }
  /** The clock of the stores jumps forward by `ms`, or stands still for so long. */
  | { readonly do: 'clock'; readonly at: number; readonly ms: number }
  /** Single calls of stores fail all the time. */
  | { readonly do: 'noise'; readonly at: number; readonly share: number }

export interface Plan {
  readonly seed: number
  readonly processes: number
  readonly caps: boolean
  readonly submit: 'token' | 'lookup' | 'none'
  readonly whenDown: 'refuse' | 'local'
  /** The rates of each account. */
  readonly rate: { readonly requests?: `${number}/min`; readonly tokens?: `${number}/min` }
  /** How many requests of an account may run at the same time. */
  readonly concurrent: number
  readonly journalMs: number
  /** Whether processes draw for several calls at once. */
  readonly isAmple: boolean
  /** Whether the last processes are closed, or die. */
  readonly closes: boolean
  /** Micro-units that each account has at first. */
  readonly credit: number
  readonly events: readonly Event[]
}

export const accounts = ['acme', 'bell'] as const
/** Has no prepaid balance. */
export const unlimitedAccount = 'bell'
/** Milliseconds in which clients begin calls. */
export const busyMs = 30_000
/** From here on nothing fails. */
export const quietMs = busyMs + 45_000

/** A key whose lease lapses while its request is served, so that another attempt gets it before the first one ends. */
function contested(up: (most: number) => number, of: <T>(items: readonly T[]) => T, processes: number): Event[] {
  const at = up(busyMs - 18_000)
  const chat = {
    do: 'chat' as const,
    account: unlimitedAccount,
    stream: false,
    maxTokens: 100,
    tokens: 50,
    pieces: 1,
    pauseMs: 5_000,
    vendor: of(['answers', 'refuses'] as const),
    key: 'contested',
  }
  const later = [0, 1_500, 5_200 + up(600), 5_200 + up(600), 10_400 + up(1_200), 15_600 + up(2_000)]
  const chats = later.map((ms) => ({ ...chat, at: at + ms, process: up(processes) }))
  return [...chats, { do: 'clock', at: at + 1_000, ms: 12_000 }]
}

export function planOf(seed: number): Plan {
  return amplePlan(usualPlan(seed))
}

function usualPlan(seed: number): Plan {
  const random = seeded(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995)
  const chance = (share: number) => random() < share
  const up = (most: number) => Math.floor(random() * most)
  const of = <T>(items: readonly T[]): T => items[up(items.length)] as T
  const processes = 1 + up(3)
  const somewhere = () => ({ at: up(busyMs), process: up(processes) })
  const account = () => (chance(0.75) ? accounts[0] : accounts[1])
  const events: Event[] = []
  const isCalm = chance(0.25)
  const isSlow = chance(0.2)

  const keyed: Chat[] = []
  for (let left = 12 + up(12); left > 0; left--) {
    const earlier = chance(0.5) ? keyed[up(keyed.length)] : undefined
    if (earlier !== undefined) {
      const { leavesMs: _, ...same } = earlier
      events.push({ ...same, at: earlier.at + up(chance(0.3) ? 30_000 : 9_000), process: up(processes) })
      continue
    }
    const chat: Chat = {
      do: 'chat',
      ...somewhere(),
      account: account(),
      stream: chance(0.5),
      maxTokens: 20 + up(400),
      tokens: 0,
      pieces: 1 + up(3),
      pauseMs: chance(isSlow ? 0.7 : 0.15) ? up(9_000) : up(400),
      vendor: chance(0.8) ? 'answers' : of(['refuses', 'breaks off', 'refuses once']),
      ...(chance(0.4) && { key: `key-${left}` }),
      ...(chance(0.15) && { leavesMs: up(1_500) }),
    }
    const made = { ...chat, tokens: 1 + up(chat.maxTokens) }
    if (made.key !== undefined) keyed.push(made)
    events.push(made)
  }
  for (let left = up(4); left > 0; left--) {
    const video: Video = {
      do: 'video',
      ...somewhere(),
      account: account(),
      key: `video-${left}`,
      seconds: of([5, 10]),
      takesMs: up(chance(0.2) ? 120_000 : 20_000),
      fails: chance(0.2),
      ...(chance(0.2) && { deletedMs: up(20_000) }),
    }
    events.push(video)
    if (chance(0.5)) events.push({ ...video, at: video.at + up(6_000), process: up(processes) })
  }
  for (let left = up(4); left > 0; left--)
    events.push({ do: 'topUp', ...somewhere(), account: accounts[0], amount: 1 + up(900) })
  for (let left = up(3); left > 0; left--) events.push({ do: of(['refund', 'limit']), ...somewhere(), part: random() })
  if (!isCalm) {
    for (let left = up(4); left > 0; left--) {
      const what = of(['kill', 'deploy', 'suspend', 'jump'] as const)
      const ms = what === 'jump' ? (chance(0.5) ? 1 : -1) * up(600_000) : up(what === 'suspend' ? 40_000 : 5_000)
      events.push({ do: what, ...somewhere(), ms })
    }
    for (let left = up(4); left > 0; left--) {
      const place = of(['ledger', 'limits', 'tasks', 'idempotency', 'vendor'] as const)
      const fate = of(['refused', 'lost', 'unanswered', 'failed after commit', 'late'] as const)
      events.push({ do: 'outage', at: up(busyMs), ms: up(chance(0.3) ? 25_000 : 3_000), place, fate })
    }
    if (chance(0.4)) events.push({ do: 'noise', at: 0, share: chance(0.5) ? 0.01 : 0.05 })
    if (chance(0.06)) events.push(...contested(up, of, processes))
    if (chance(0.2)) events.push({ do: 'clock', at: up(busyMs), ms: chance(0.5) ? up(120_000) : -up(30_000) })
  }
  return {
    seed,
    processes,
    caps: chance(0.6),
    submit: of(['token', 'lookup', 'none']),
    whenDown: chance(0.8) ? 'refuse' : 'local',
    rate: chance(0.5) ? { requests: '12/min', tokens: '2000/min' } : { requests: '60/min', tokens: '9000/min' },
    concurrent: 4,
    journalMs: 2_000,
    isAmple: false,
    closes: chance(0.25),
    credit: chance(0.3) ? 5_000 : 400 + up(2_500),
    events: events.sort((left, right) => left.at - right.at),
  }
}

/** Of some histories, another one in which an account has plenty of everything, and calls follow each other closely. */
function amplePlan(plan: Plan): Plan {
  const random = seeded(Math.imul(plan.seed, 0x85ebca6b) ^ 0x27d4eb2f)
  const up = (most: number) => Math.floor(random() * most)
  const of = <T>(items: readonly T[]): T => items[up(items.length)] as T
  if (random() >= 0.2) return plan
  const events = plan.events.filter((event) => event.do !== 'chat' || random() < 0.3)
  for (let bursts = 2; bursts > 0; bursts--) {
    const [at, process, ms] = [up(busyMs), up(plan.processes), of([250, 800, 2_500])]
    for (let left = 6 + up(8); left > 0; left--) {
      const maxTokens = 20 + up(of([20, 300]))
      events.push({
        do: 'chat',
        at: at + up(ms),
        process: random() < 0.8 ? process : up(plan.processes),
        account: accounts[0],
        stream: random() < 0.5,
        maxTokens,
        tokens: 1 + up(maxTokens),
        pieces: 1 + up(2),
        pauseMs: up(of([20, 400, 2_000])),
        vendor: random() < 0.8 ? 'answers' : of(['refuses', 'breaks off', 'refuses once']),
        ...(random() < 0.1 && { leavesMs: up(600) }),
      })
    }
    const during = { at: at + up(ms) }
    const fault = of(['none', 'suspend', 'kill', 'deploy', 'outage'] as const)
    if (fault === 'outage') {
      const fate = of(['refused', 'lost', 'unanswered', 'failed after commit', 'late'] as const)
      events.push({ do: fault, ...during, ms: up(1_500), place: 'ledger', fate })
    } else if (fault !== 'none') events.push({ do: fault, ...during, process, ms: 200 + up(4_000) })
  }
  return {
    ...plan,
    caps: seeded(plan.seed)() < 0.5,
    rate: of([
      { requests: '16/min', tokens: '90000/min' },
      { requests: '600/min', tokens: '9000/min' },
      { requests: '6000/min' },
      {},
    ]),
    concurrent: of([24, 100]),
    journalMs: of([250, 2_000]),
    isAmple: true,
    credit: 5_000_000,
    events: events.sort((left, right) => left.at - right.at),
  }
}
