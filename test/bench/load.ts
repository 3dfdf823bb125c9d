/** Child process with the clients. */
import { setTimeout as wait } from 'node:timers/promises'
import { serveParent } from './child.ts'
import { Connection, connectionsTo, release } from './connection.ts'
import { quantile } from './table.ts'
import { heldBody, scenarioNamed, type Scenario } from './traffic.ts'

/** A server, as the clients see it. */
export interface Target {
  /** More than one: the clients are spread over the processes of a cluster. */
  readonly ports: readonly number[]
  /** The mount path of the gateway. */
  readonly mount: string
  /** Number of accounts whose keys the clients use in turn. Default: one account. */
  readonly accounts?: number | undefined
}

export type Load = Target & {
  readonly scenario: string
  readonly forMs: number
  /** The name of the model in the requests. */
  readonly model: string
  /** Concurrent requests. Default: those of the scenario. */
  readonly concurrency?: number
}

export interface Answered {
  readonly requests: number
  /** Milliseconds from the first request to the last response. */
  readonly ms: number
  /** Milliseconds of a response, from its request to its end. */
  readonly p50: number
  readonly p99: number
}

/** Requests that begin at fixed times, whether or not earlier ones have been answered. */
export type Rate = Target & { readonly scenario: string; readonly perSecond: number; readonly forMs: number }

export type Hold = Target & {
  readonly count: number
  /** Bytes of the messages of each request. */
  readonly bytes: number
  /** Whether the vendor sends nothing after the first word, instead of a word a second. */
  readonly silent?: boolean
}

/** The request heads of each account in turn. */
function headsOf({ mount, accounts }: Target, path: string, body: Buffer): () => Buffer {
  const keys = accounts === undefined ? ['sk-bench'] : Array.from({ length: accounts }, (_, at) => `sk-bench-${at}`)
  const heads = keys.map((key) =>
    Buffer.from(
      [
        `POST ${mount}${path} HTTP/1.1`,
        'host: 127.0.0.1',
        `authorization: Bearer ${key}`,
        'accept: application/json',
        'user-agent: OpenAI/JS 7.55.0',
        'x-stainless-lang: js',
        'x-stainless-retry-count: 0',
        'content-type: application/json',
        `content-length: ${body.length}\r\n\r\n`,
      ].join('\r\n'),
    ),
  )
  let at = 0
  return () => heads[at++ % heads.length] as Buffer
}

function requestsOf(target: Target, { body, path = '/v1/chat/completions' }: Scenario, model: string) {
  const text = Buffer.from(body(model))
  return { head: headsOf(target, path, text), text }
}

/** Checks a response: one that is too short or of another kind would make the server look cheap. */
function verify(answer: Buffer, { name, chunks, path }: Scenario): void {
  const text = withoutChunking(answer.toString('latin1'))
  // The gateway may join the words of a message, and the relay answers with the chat of its vendor.
  const word = path === '/v1/messages' ? ' scatter' : '"content":" scatter"'
  const ended = text.includes('data: [DONE]') || text.includes('event: message_stop')
  const complete = chunks === 0 ? text.includes('"usage"') : text.split(word).length - 1 === chunks && ended
  if (text.startsWith('HTTP/1.1 200') && complete) return
  throw new Error(`${name}: unexpected response: ${text.slice(0, 600)}`)
}

/** Joins the chunks of a chunked body, which may be split anywhere. */
function withoutChunking(answer: string): string {
  const head = answer.indexOf('\r\n\r\n') + 4
  let text = answer.slice(0, head)
  if (!/transfer-encoding: chunked/i.test(text)) return answer
  for (let at = head; at < answer.length;) {
    const line = answer.indexOf('\r\n', at)
    const size = Number.parseInt(answer.slice(at, line), 16)
    text += answer.slice(line + 2, line + 2 + size)
    at = line + 4 + size
  }
  return text
}

const summary = (times: readonly number[], ms: number): Answered => ({
  requests: times.length,
  ms,
  p50: quantile(times, 0.5),
  p99: quantile(times, 0.99),
})

/** Each client sends one request after the other. The first response of each is checked. */
async function run(load: Load): Promise<Answered> {
  const scenario = scenarioNamed(load.scenario)
  const { concurrency = scenario.concurrency, ports } = load
  const { head, text } = requestsOf(load, scenario, load.model)
  const began = performance.now()
  const times: number[] = []
  const client = async (port: number, connection: Connection) => {
    for (let sent = 0; sent === 0 || performance.now() < began + load.forMs; sent++) {
      const since = performance.now()
      const answer = await connection.send(head(), text)
      times.push(performance.now() - since)
      if (sent === 0) verify(answer, scenario)
    }
    release(port, connection)
  }
  const share = Math.ceil(concurrency / ports.length)
  await Promise.all(ports.flatMap((port) => connectionsTo(port, share).map((each) => client(port, each))))
  return summary(times, performance.now() - began)
}

async function sendAtRate(rate: Rate): Promise<Answered> {
  const scenario = scenarioNamed(rate.scenario)
  const { head, text } = requestsOf(rate, scenario, scenario.name)
  const [port = 0] = rate.ports
  const began = performance.now()
  const times: number[] = []
  const one = async () => {
    const [connection] = connectionsTo(port, 1) as [Connection]
    const since = performance.now()
    verify(await connection.send(head(), text), scenario)
    times.push(performance.now() - since)
    release(port, connection)
  }
  const open: Promise<void>[] = []
  const total = Math.round((rate.perSecond * rate.forMs) / 1_000)
  while (open.length < total) {
    const due = began + (open.length * 1_000) / rate.perSecond
    const early = due - performance.now()
    if (early > 0) await wait(early)
    else open.push(one())
  }
  await Promise.all(open)
  return summary(times, performance.now() - began)
}

const held: Connection[] = []

/** Opens streams that stay open, a few at a time. */
async function hold({ count, bytes, silent = false, ...target }: Hold): Promise<void> {
  const text = Buffer.from(heldBody(silent ? 'silent' : 'held', bytes))
  const head = headsOf(target, '/v1/chat/completions', text)
  for (let opened = 0; opened < count; opened += 50) {
    const batch = Array.from({ length: Math.min(50, count - opened) }, () => new Connection(target.ports[0] as number))
    held.push(...batch)
    await Promise.all(batch.map((connection) => connection.hold(head(), text)))
  }
}

serveParent({
  run,
  rate: sendAtRate,
  hold,
  release: () => held.splice(0).forEach((connection) => connection.close()),
})
