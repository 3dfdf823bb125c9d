/**
 * Processes that call vendors against one account with two caps: each call is held, then settled or released. Messages to the
 * ledger are late, lost and repeated, their answers are lost, processes pause and die, leases lapse, and somebody pays in. The
 * ledger is `LedgerModel`, with which the simulation compares real stores.
 */
import type { CapClaim } from '../../src/money/caps/contract.ts'
import type { Model } from './explore.ts'
import { LedgerModel } from './ledger-model.ts'

/** What a process knows of a call. `gone`: the process has died. */
const known = ['idle', 'asked', 'open', 'settling', 'releasing', 'done', 'refused', 'gone'] as const
/** What the ledger has of a call. `uncovered`: settled after its hold had lapsed. */
const booked = ['nothing', 'held', 'settled', 'uncovered', 'released'] as const
/** Messages that may still arrive. */
const sent = { hold: 1, settle: 2, release: 4 } as const
const kinds = ['hold', 'settle', 'release'] as const

type Books = (typeof booked)[number]

interface Call {
  readonly knows: (typeof known)[number]
  readonly books: Books
  readonly sent: number
}

/** Of equal processes, whatever the order of their calls, there is one object. */
interface Process {
  readonly number: number
  readonly is: 'running' | 'paused' | 'dead'
  readonly calls: readonly Call[]
  /** How many of its calls are held, settled and uncovered. */
  readonly counts: readonly [held: number, settled: number, uncovered: number]
}

/** What else the state consists of: whether somebody has paid in, and how many of each fault may still happen. */
interface Rest {
  readonly paid: 0 | 1
  readonly crashes: number
  readonly pauses: number
  /** Answers that are lost, and messages that come late or twice. */
  readonly losses: number
}

interface State extends Rest {
  readonly processes: readonly Process[]
}

export interface Size extends Omit<Rest, 'paid'> {
  readonly processes: number
  readonly calls: number
}

/** What can be wrong on purpose, to see that it is found. */
export type Fault = 'release forgotten' | 'settled anew' | 'lapses while open' | 'caps ignore holds' | 'lapses never'

const amounts = { held: 2n, price: 1n, credit: 5n, payment: 2n }
const limits = { money: 6n, calls: 3n }
const window = 'always'
const caps: readonly CapClaim[] = [
  { name: 'money', window, periods: { boundaries: [0, 8e15] }, limits: { money: limits.money } },
  { name: 'calls', window, periods: { boundaries: [0, 8e15] }, limits: { calls: limits.calls } },
]
const always = caps.map(({ name }) => ({ name, window, start: 0, end: 8e15, rollingMs: 0 }))
const account = 'a'
const leaseMs = 1e9

export function callsModel(size: Size, fault?: Fault): Model<State> {
  const interned = new Map<string, Process>()
  const moves = new Map<string, readonly (readonly [Process, Rest])[]>()
  const answers = new Map<string, Arrived>()

  const intern = (is: Process['is'], calls: readonly Call[]): Process => {
    const codes = calls.map((call) => [codeOf(call), call] as const).sort(([left], [right]) => left - right)
    const name = is + String(codes.map(([code]) => code))
    let process = interned.get(name)
    if (process === undefined) {
      const count = (books: Books) => calls.filter((call) => call.books === books).length
      const counts = [count('held'), count('settled'), count('uncovered')] as const
      process = { number: interned.size, is, calls: codes.map(([, call]) => call), counts }
      interned.set(name, process)
    }
    return process
  }
  const arrive = (call: Call, kind: keyof typeof sent, counts: Process['counts'], paid: 0 | 1): Arrived => {
    const name = `${codeOf(call)} ${kind} ${String(counts)} ${String(paid)}`
    let answer = answers.get(name)
    if (answer === undefined) answers.set(name, (answer = ask(call, kind, ledgerOf(call, counts, paid, fault), fault)))
    return answer
  }

  /** What one process, its messages and time can do next. */
  function* movesOf(process: Process, rest: Rest, counts: Process['counts']): Generator<readonly [Process, Rest]> {
    const { is, calls } = process
    const isRunning = is === 'running'
    if (isRunning && rest.pauses > 0) yield [intern('paused', calls), { ...rest, pauses: rest.pauses - 1 }]
    if (is === 'paused') yield [intern('running', calls), rest]
    if (is !== 'dead' && rest.crashes > 0) {
      const gone = calls.map((call) => (isOver(call) ? call : { ...call, knows: 'gone' as const }))
      yield [intern('dead', gone), { ...rest, crashes: rest.crashes - 1 }]
    }
    for (const [at, call] of calls.entries()) {
      const to = (changes: Partial<Call>, losses = 0): readonly [Process, Rest] => [
        intern(is, calls.with(at, { ...call, ...changes })),
        losses === 0 ? rest : { ...rest, losses: rest.losses - losses },
      ]
      if (isRunning) for (const changes of acts(call, calls)) yield to(changes)
      if (isRunning && call.knows === 'asked') {
        // No answer: the hold may have been made nevertheless, or be made later.
        const isLate = (call.sent & sent.hold) !== 0
        if (!isLate || rest.losses > 0) yield to({ knows: 'releasing', sent: call.sent | sent.release }, isLate ? 1 : 0)
      }
      const isRenewed = isRunning && call.knows === 'open' && fault !== 'lapses while open'
      if (call.books === 'held' && !isRenewed && fault !== 'lapses never') yield to({ books: 'nothing' })
      for (const kind of kinds) {
        if ((call.sent & sent[kind]) === 0) continue
        const { books, knows } = arrive(call, kind, counts, rest.paid)
        const left = call.sent & ~sent[kind]
        const isHeard = isRunning && knows !== undefined
        yield to(isHeard ? { books, sent: left, knows } : { books, sent: left })
        if (isHeard && rest.losses > 0) yield to({ books, sent: left }, 1)
        if (rest.losses > 0) yield to({ books, sent: call.sent }, 1)
      }
    }
  }

  function* next(state: State): Generator<State> {
    const { processes, paid, crashes, pauses, losses } = state
    if (paid === 0) yield { ...state, paid: 1 }
    const counts = countsOf(state)
    for (const [at, process] of processes.entries()) {
      const name = `${process.number} ${String(paid)}${crashes}${pauses}${losses} ${String(counts)}`
      let list = moves.get(name)
      if (list === undefined) moves.set(name, (list = [...movesOf(process, { paid, crashes, pauses, losses }, counts)]))
      for (const [changed, rest] of list) {
        const others = processes.with(at, changed).sort((left, right) => left.number - right.number)
        yield { ...rest, processes: others }
      }
    }
  }

  const { processes, calls, crashes, pauses, losses } = size
  const none: Call = { knows: 'idle', books: 'nothing', sent: 0 }
  const idle = intern(
    'running',
    Array.from({ length: calls }, () => none),
  )
  return {
    first: { paid: 0, crashes, pauses, losses, processes: Array.from({ length: processes }, () => idle) },
    next,
    check: (state, isLast) => check(state, isLast, state.pauses < pauses),
    key: (state) =>
      `${state.paid}${state.crashes}${state.pauses}${state.losses} ${state.processes.map(({ number }) => number).join()}`,
  }
}

/** What a process that runs may do. It begins one call after the other, and sends endings until they are answered. */
function* acts({ knows, sent: messages }: Call, calls: readonly Call[]): Generator<Partial<Call>> {
  if (knows === 'idle' && calls.every(isOver)) yield { knows: 'asked', sent: sent.hold }
  if (knows === 'open') {
    yield { knows: 'settling', sent: messages | sent.settle }
    yield { knows: 'releasing', sent: messages | sent.release }
  }
  if (knows === 'settling' && (messages & sent.settle) === 0) yield { sent: messages | sent.settle }
  if (knows === 'releasing' && (messages & sent.release) === 0) yield { sent: messages | sent.release }
}

interface Arrived {
  readonly books: Books
  /** What the answer tells the process. */
  readonly knows: Call['knows'] | undefined
}

/** What the ledger makes of a message. */
function ask(call: Call, kind: keyof typeof sent, ledger: LedgerModel, fault: Fault | undefined): Arrived {
  const id = 'this'
  if (kind === 'hold') {
    const outcome = ledger.hold({ id, account, amount: amounts.held, leaseMs, caps }, 0)
    const knows = call.knows !== 'asked' || outcome === 'ended' ? undefined : outcome === 'held' ? 'open' : 'refused'
    return { books: outcome === 'held' ? 'held' : call.books, knows }
  }
  if (kind === 'release') {
    ledger.release({ id, account }, 0)
    const isReleased = ledger.ended.get(id)?.kind === 'release'
    const books = !isReleased ? call.books : fault === 'release forgotten' ? 'nothing' : 'released'
    return { books, knows: call.knows === 'releasing' ? 'done' : undefined }
  }
  if (fault === 'settled anew') ledger.ended.delete(id)
  const { outcome, overage } = ledger.settle({ id, account, amount: amounts.price, caps: always }, 0)
  if (outcome === 'settled' && isCharged(call)) throw new Error('a call is charged twice')
  const books = outcome !== 'settled' ? call.books : overage > 0n ? 'uncovered' : 'settled'
  return { books, knows: call.knows === 'settling' ? 'done' : undefined }
}

/** The ledger with a call and all others. */
function ledgerOf(call: Call, counts: Process['counts'], paid: 0 | 1, fault: Fault | undefined): LedgerModel {
  const ledger = new LedgerModel()
  ledger.credit({ account, amount: amounts.credit, reference: 'first' })
  // Paid in twice, with one reference.
  for (let times = 0; times < 2 * paid; times++)
    ledger.credit({ account, amount: amounts.payment, reference: 'second' })
  const add = (id: string, books: Books) => {
    const ended = { account, overage: 0n, tokens: 0n, refunded: 0n }
    const held = { account, amounts: { money: amounts.held, tokens: 0n, calls: 1n }, until: leaseMs }
    if (books === 'held') ledger.holds.set(id, { ...held, periods: fault === 'caps ignore holds' ? [] : always })
    else if (books === 'released') ledger.ended.set(id, { ...ended, kind: 'release', amount: 0n, periods: [] })
    else ledger.ended.set(id, { ...ended, kind: 'settle', amount: amounts.price, periods: always })
  }
  for (const [at, books] of (['held', 'settled', 'uncovered'] as const).entries()) {
    const others = (counts[at] as number) - (call.books === books ? 1 : 0)
    for (let other = 0; other < others; other++) add(`${books} ${other}`, books)
  }
  if (call.books !== 'nothing') add('this', call.books)
  return ledger
}

function check(state: State, isLast: boolean, hasPaused: boolean): void {
  const [held, settled, uncovered] = countsOf(state).map(BigInt) as [bigint, bigint, bigint]
  const paid = amounts.credit + BigInt(state.paid) * amounts.payment
  const covered = held * amounts.held + settled * amounts.price
  if (covered > paid) throw new Error('more is held and settled than was paid')
  if (covered > limits.money) throw new Error('the cap of money is passed')
  if (held + settled > limits.calls) throw new Error('the cap of calls is passed')
  const balance = paid - covered - uncovered * amounts.price
  if (balance < 0n && uncovered === 0n) throw new Error('the balance is below zero, and all charges were covered')
  for (const { is, calls } of state.processes) {
    for (const call of calls) {
      const { knows, books } = call
      const hasNotEnded = knows === 'idle' || knows === 'asked' || knows === 'open' || knows === 'releasing'
      if (isCharged(call) && hasNotEnded) throw new Error(`a call is charged that is ${knows}`)
      if (books === 'held' && isOver(call)) throw new Error('a hold has no owner')
      if (is === 'running' && knows === 'open' && books !== 'held' && !hasPaused) throw new Error('a call has no hold')
      if (isLast && books === 'held') throw new Error('a hold never ends')
      if (isLast && knows !== 'gone' && !isOver(call)) throw new Error(`a call is ${knows} for ever`)
    }
  }
}

function countsOf({ processes }: State): Process['counts'] {
  const counts: [number, number, number] = [0, 0, 0]
  for (const { counts: own } of processes)
    for (let at = 0; at < 3; at++) counts[at] = (counts[at] as number) + (own[at] as number)
  return counts
}

function isCharged({ books }: Call): boolean {
  return books === 'settled' || books === 'uncovered'
}

function isOver({ knows }: Call): boolean {
  return knows === 'done' || knows === 'refused' || knows === 'idle'
}

function codeOf({ knows, books, sent: messages }: Call): number {
  return known.indexOf(knows) + 8 * (booked.indexOf(books) + 5 * messages)
}
