/** Recorded responses of vendors, each with the result that clients must get. See `INDEX.md` beside the recordings. */
import assert from 'node:assert/strict'
import type { VendorReply } from 'modelhatch/testing'
import { long, thorough } from '../long.ts'
import { hasShared, sharedBytes, sharedJson, sharedNames } from '../shared.ts'
import type { ChatResult } from './chat-results.ts'

export interface Recording {
  readonly vendor: string
  readonly file: string
  readonly wire: string
  readonly stream: boolean
  readonly status: number
  readonly contentType: string
  readonly expect: Expected
}

interface Counts {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number | null
}

interface Expected {
  readonly finish_reason?: string | null
  readonly content?: string
  readonly reasoning?: string | null
  readonly tool_calls?: readonly {
    readonly index: number
    readonly id: string | null
    readonly name: string
    readonly arguments?: unknown
    readonly arguments_text?: string
    readonly arguments_prefix?: string
  }[]
  readonly usage?: Counts | null
  /** What the vendor bills, where its totals leave a part out. */
  readonly usage_also_accepted?: Counts
  readonly logprobs?: readonly { readonly token: string; readonly logprob: number; readonly top: string[] }[]
  readonly error?: {
    readonly kind: 'http' | 'in_stream' | 'upstream_invalid'
    readonly client_status?: readonly number[]
    readonly code?: string
    readonly type?: string
  }
  readonly before_error?: Expected
  readonly [more: string]: unknown
}

export function recordingsOf(vendor: string): Recording[] {
  if (!hasShared) return []
  const all = sharedJson(`recordings/${vendor}/expected.json`) as Record<string, Record<string, never>>
  return Object.entries(all).map(([file, entry]) => ({
    vendor,
    file,
    wire: entry['wire'] as never,
    stream: entry['stream'] as never,
    status: entry['vendor_status'] as never,
    contentType: entry['content_type'] as never,
    expect: entry['expect'] as never,
  }))
}

/** Empty without the test data. */
export const recordedVendors: readonly string[] = hasShared
  ? sharedNames('recordings').filter((name) => !name.includes('.'))
  : []

/** The body of the request that the recording answers; undefined if it was not recorded. */
export function requestOf({ vendor, file }: Recording): Record<string, unknown> | undefined {
  const name = file.replace(/\.(?:json|sse)$/, '.request.json')
  if (!sharedNames(`recordings/${vendor}`).includes(name)) return undefined
  return (sharedJson(`recordings/${vendor}/${name}`) as { body?: Record<string, unknown> }).body
}

export function bytesOf({ vendor, file }: Recording): Buffer {
  return sharedBytes(`recordings/${vendor}/${file}`)
}

/** Maximum number of bytes to read for the cuts of one stream in the short form: each cut reads the whole stream again. */
const shortFormBytes = thorough ? 2_000_000 : 60_000

/** The positions at which to cut a stream: every byte; in the short form, evenly spread over the first frames of each kind. */
export function cutsOf(bytes: Buffer): number[] {
  if (long) return Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)
  const seen = new Map<string, number>()
  const cuts: number[] = []
  let at = 0
  for (const frame of bytes.toString('latin1').split(/(?<=\r?\n\r?\n)/)) {
    const kind = frame.replaceAll(/(?<!"type"): ?"(?:[^"\\]|\\.)*"|\d+| +/g, '')
    const count = (seen.get(kind) ?? 0) + 1
    seen.set(kind, count)
    if (count <= 3) for (let cut = Math.max(at, 1); cut < at + frame.length; cut++) cuts.push(cut)
    at += frame.length
  }
  const stride = Math.ceil((cuts.length * bytes.length) / shortFormBytes)
  return cuts.filter((_, index) => index % stride === 0)
}

/** A vendor that sends this response to every request, split at `cuts` into separate writes. */
export function replay(recording: Recording, cuts: readonly number[] = []): VendorReply {
  const bytes = bytesOf(recording)
  return (_, response) => {
    response.writeHead(recording.status, { 'content-type': recording.contentType })
    let from = 0
    for (const cut of cuts) {
      response.write(bytes.subarray(from, cut))
      from = cut
    }
    response.end(bytes.subarray(from))
  }
}

/** Throws if the result is not the expected one. */
export function assertResult(result: ChatResult, expected: Expected): void {
  const { error } = expected
  if (error === undefined) {
    assert.equal(result.error, undefined)
    assertAnswer(result, expected)
    assert.equal(result.finish, expected.finish_reason)
    return
  }
  assert.ok(result.error !== undefined, 'the client must get an error')
  if (error.kind === 'in_stream') assertAnswer(result, expected.before_error ?? {})
  else assert.ok(error.client_status?.includes(result.error.status ?? 0), `status ${result.error.status}`)
  if (error.code !== undefined) assert.equal(result.error.code, error.code)
}

function assertAnswer(result: ChatResult, expected: Expected): void {
  assert.equal(result.content, expected.content ?? '')
  assert.equal(result.reasoning, expected.reasoning ?? '')
  const { tool_calls: calls = [], logprobs } = expected
  const usage = expected.usage_also_accepted ?? expected.usage
  assert.deepEqual(
    result.calls.map(({ name }) => name),
    calls.map(({ name }) => name),
  )
  for (const { index, id, arguments: value, arguments_text: text, arguments_prefix: prefix } of calls) {
    const call = result.calls[index]
    if (id === null) assert.ok(call?.id)
    else assert.equal(call?.id, id)
    if (text !== undefined) assert.equal(call?.arguments, text)
    else if (prefix !== undefined) assert.equal(call?.arguments, prefix)
    else assert.deepEqual(JSON.parse(call?.arguments ?? ''), value)
  }
  assert.equal(new Set(result.calls.map(({ id }) => id)).size, result.calls.length, 'the ids of tool calls are unique')
  if (usage) assertUsage(result, usage)
  if (logprobs !== undefined) {
    const seen = result.logprobs as { token: string; logprob: number; top_logprobs: { token: string }[] }[]
    const short = seen.map(({ token, logprob, top_logprobs: top }) => ({
      token,
      logprob,
      top: top.map((t) => t.token),
    }))
    assert.deepEqual(short, logprobs)
  }
}

/** A count of null is not asserted. */
function assertUsage({ usage }: ChatResult, expected: Counts): void {
  const counts = {
    prompt_tokens: usage?.prompt_tokens,
    completion_tokens: usage?.completion_tokens,
    total_tokens: usage?.total_tokens,
    cached_tokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    cache_write_tokens: usage?.prompt_tokens_details?.cache_write_tokens ?? 0,
    reasoning_tokens: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
  }
  for (const [name, count] of Object.entries(expected)) {
    if (count !== null) assert.equal(counts[name as keyof Counts], count, name)
  }
}
