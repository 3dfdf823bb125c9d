/** What the fake makers have in common: vendors on a socket that reject the same conversations as the real ones. */
import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Provider } from 'modelhatch/providers'
import { vendorFor } from '../hosted.ts'

/** A request body in the vendor's format, untyped. */
// oxlint-disable-next-line typescript/no-explicit-any -- the makers read what they check
export type Sent = any

/** What the model says in one turn. A turn without calls ends with text. */
export interface Line {
  /** Unique within the test. */
  readonly turn: number
  /** How many tools it calls. */
  readonly calls: number
}

/** A vendor, the state that it has issued, and what became of it. */
export interface Maker {
  readonly name: string
  readonly provider: Provider
  readonly providerModel: string
  /** The bodies that it received, oldest first. */
  readonly bodies: Sent[]
  /** The reasons of its rejections. */
  readonly refusals: string[]
  /** All state that it has issued, oldest first. */
  readonly issued: string[]
  /** How much of it was issued before each request. */
  readonly issuedBefore: number[]
  /** The state of its own in a request, in its order. */
  readonly returned: (body: Sent) => string[]
  /** What it says next; set by the test before each request. */
  says: Line
  /** While down, it fails with 500. */
  setDown: (isDown: boolean) => void
}

/** A vendor's rejection: its status, and its error as JSON. */
export interface Rejection {
  readonly status: number
  readonly body: object
}

interface Dialect {
  /** Why the vendor rejects a request; undefined if it accepts it. */
  readonly fault: (body: Sent, headers: Readonly<Record<string, unknown>>) => string | undefined
  /** Its error in the vendor's format. */
  readonly refuse: (reason: string) => Rejection
  readonly answer: (
    response: ServerResponse,
    body: Sent,
    headers: Readonly<Record<string, unknown>>,
    url: string,
  ) => void
}

/** Serves a dialect, and records what it receives and rejects. */
export async function serveMaker({ fault, refuse, answer }: Dialect) {
  const bodies: Sent[] = []
  const refusals: string[] = []
  const issued: string[] = []
  const issuedBefore: number[] = []
  let down = false
  const { baseURL } = await vendorFor(({ json, headers, url }, response) => {
    if (down) return void response.writeHead(500).end()
    const reason = fault(json, headers)
    bodies.push(json)
    issuedBefore.push(issued.length)
    if (reason === undefined) return answer(response, json, headers, url)
    refusals.push(reason)
    const { status, body } = refuse(reason)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  return { baseURL, bodies, refusals, issued, issuedBefore, setDown: (isDown: boolean) => void (down = isDown) }
}

/** A whole answer as JSON. */
export function endJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** A streamed answer. */
export function endEvents(response: ServerResponse, frames: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.join(''))
}

/** A signature of a value, as only its maker can make it. */
export function sign(secret: string, value: unknown): string {
  return createHmac('sha256', secret).update(canonical(value)).digest('base64')
}

/** JSON with sorted keys, without fields that are undefined. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
    return Object.fromEntries(Object.entries(each).sort(([left], [right]) => (left < right ? -1 : 1)))
  })
}

/** The first key of an object that is not known. */
export function unknownKey(value: object, known: readonly string[]): string | undefined {
  return Object.keys(value).find((key) => !known.includes(key))
}

/** Letters that differ from turn to turn. */
export function thoughtOf(name: string, { turn }: Line): string {
  return `${name} thinks in turn ${turn}: “é\n…”`
}
