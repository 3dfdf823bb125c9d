import { openai } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { chat } from '../../../src/endpoints/chat/chat.ts'
import type { Context } from '../../../src/endpoints/endpoint.ts'
import { GatewayError } from '../../../src/errors.ts'
import { errorFrame } from '../../../src/http/sse.ts'
import type { Call } from '../../../src/providers/contract.ts'
import { Framer } from '../../../src/providers/framing.ts'
import { readFrames } from '../../../src/providers/openai/frames.ts'
import { statusIn, vendorError } from '../../../src/providers/vendor-error.ts'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import { askChat, hostedWith, vendorFor } from '../../hosted.ts'
import { assertResult, bytesOf, cutsOf, recordingsOf, type Recording } from '../recordings.ts'
import { hasShared } from '../../shared.ts'
import { parseChat } from './parse-chat.ts'
import { thorough } from '../../long.ts'

const vendors =
  'openai azure xai deepseek groq mistral moonshot openrouter alibaba proxy snowflake google-compat perplexity together'
const recordings = vendors
  .split(' ')
  .flatMap(recordingsOf)
  .filter(({ wire }) => wire === 'openai.chat')
const streams = recordings.filter(({ stream }) => stream)
const streaming = { stream: true, stream_options: { include_usage: true } }

describe.skipIf(!hasShared).each([
  { client: 'a non-streaming client', body: {}, stream: false },
  { client: 'a streaming client', body: streaming, stream: true },
])('$client', ({ body, stream }) => {
  test.each(recordings)('gets the content of $vendor $file wherever the network splits it', async (recording) => {
    const { expect: expected, vendor: name, file } = recording
    const bytes = bytesOf(recording)
    let cuts: number[] = []
    const vendor = await vendorFor((_, response) => inPieces(recording, cuts, response))
    const provider = openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor', name })
    const { url, receipt } = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 } })

    const seen = new Set<string>()
    for (cuts of [[], [1, 2, 3, bytes.length - 1], thirds(bytes.length), ends(bytes)]) {
      const response = await askChat(url, body)
      const text = await response.text()
      const { id: _, startedAt: __, firstByteMs: ___, totalMs: ____, ...billed } = await receipt()

      const result = parseChat(response.status, text, stream)
      if (expected.error?.kind === 'in_stream' && !stream) expect(result.error?.status).toBe(400)
      else assertResult(result, expected)
      if (expected.before_error) {
        expect(result.finish).toBe(stream ? expected.before_error['finish_reason_already_sent'] : null)
      }
      expect(billed).toMatchObject(receiptFor(recording))
      for (const secret of secretsOf(recording)) expect(text).not.toContain(secret)
      seen.add(JSON.stringify([withoutGenerated(text), billed]))
    }
    expect(seen.size, `different responses to ${file}`).toBe(1)
  })
})

describe.skipIf(!hasShared)('a stream has the same result, byte for byte,', () => {
  test.each(streams)('when cut at any byte: $vendor $file', async (recording) => {
    const bytes = bytesOf(recording)
    const whole = await relay([bytes])
    const everywhere = Array.from(bytes, (_, at) => at)
    for (const cut of thorough && bytes.length < 2_100 ? everywhere : cutsOf(bytes)) {
      const result = await relay([bytes.subarray(0, cut), bytes.subarray(cut)])
      if (result.text !== whole.text || result.textBytes !== whole.textBytes)
        expect(result, `cut at ${cut}`).toEqual(whole)
    }
  })

  test.each(streams)('when it arrives byte by byte: $vendor $file', async (recording) => {
    const bytes = bytesOf(recording)
    expect(await relay(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(await relay([bytes]))
  })

  test.each(streams)('for any grouping of its frames: $vendor $file', async (recording) => {
    const frames = framesOf(bytesOf(recording))
    const whole = await relay([Buffer.concat(frames)])
    for (const grouping of groupings(frames)) expect(await relay(grouping)).toEqual(whole)
  })

  const short = streams.filter((each) => bytesOf(each).length < 700)
  test.each(short)('when cut at any two bytes: $vendor $file', (recording) => {
    const bytes = bytesOf(recording)
    const ends = new Set(framesOf(bytes).map((frame, index, all) => Buffer.concat(all.slice(0, index + 1)).length))
    for (let first = 1; first < bytes.length; first++) {
      for (let second = first + 1; second < bytes.length; second += thorough ? 1 : 7) {
        const framer = new Framer()
        const one = framer.push(bytes.subarray(0, first))?.length ?? 0
        const two = one + (framer.push(bytes.subarray(first, second))?.length ?? 0)
        const last = framer.push(bytes.subarray(second)) as Buffer
        // The framer returns only complete frames, and all of them. Their groupings are tested above.
        const good = (one === 0 || ends.has(one)) && (two === 0 || ends.has(two)) && two + last.length === bytes.length
        if (!good || !last.equals(bytes.subarray(two))) expect.fail(`cut at ${first} and ${second}`)
      }
    }
  })

  test.each(streams)('with CR LF or CR as line ends: $vendor $file', async (recording) => {
    const text = bytesOf(recording).toString('utf8')
    const whole = await relay([Buffer.from(text)])
    for (const end of ['\r\n', '\r']) expect(await relay([Buffer.from(text.replaceAll('\n', end))])).toEqual(whole)
  })
})

/** Every grouping of up to eight frames; of more frames, a sample of the groupings into three. */
function* groupings(frames: readonly Buffer[]): Generator<Buffer[]> {
  const join = (from: number, to?: number) => Buffer.concat(frames.slice(from, to))
  if (frames.length > 8) {
    for (let first = 1; first < frames.length; first += 3) {
      for (let second = first + 1; second < frames.length; second += 5) {
        yield [join(0, first), join(first, second), join(second)]
      }
    }
    return
  }
  for (let cuts = 0; cuts < 2 ** (frames.length - 1); cuts++) {
    const at = [...frames.keys()].filter((index) => index > 0 && (cuts >> (index - 1)) % 2 === 1)
    const bounds = [0, ...at, frames.length]
    yield bounds.slice(1).map((to, index) => join(bounds[index] as number, to))
  }
}

interface Relayed {
  readonly text: string
  readonly usage: unknown
  readonly textBytes: number
}

const failure = (error: unknown) => vendorError({ status: statusIn(error), error, openModel: false })

/** Passes a stream from the vendor's bytes to the client's, without the network. */
async function relay(pieces: readonly Buffer[]): Promise<Relayed> {
  const meter = { usage: undefined, textBytes: 0 }
  const request = { model: 'm', stream: true, stream_options: { include_usage: true } }
  const field = (name: string) => (request as Record<string, unknown>)[name]
  const order = { ...request, field, promptTokens: 10 }
  const context = { id: 'req_1', startedAt: 1_000, order, meter } as unknown as Context<ChatRequest>
  const call = { model: 'theirs', publicModel: 'm', stream: true } as unknown as Call<ChatRequest>
  const provider = { name: 'p', chat: () => readFrames(each(pieces), { rename: 'm', failure }) }
  let text = ''
  try {
    const response = await chat.ask(provider, call, context)
    for await (const frame of chat.frames?.(response, context, false) ?? [])
      text += Buffer.from(frame as Uint8Array).toString('utf8')
  } catch (error) {
    text += errorFrame(GatewayError.from(error))
  }
  return { text: withoutGenerated(text), usage: meter.usage, textBytes: meter.textBytes }
}

async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}

/** Replaces the ids and times that the gateway generates: they differ in every response. */
function withoutGenerated(text: string): string {
  return text
    .replaceAll(/call_[0-9a-f]{24}|chatcmpl-[0-9a-f]{32}/g, 'generated')
    .replaceAll(/"created":17\d{8}/g, '"created":0')
}

/** Writes the response in pieces that reach the gateway separately. */
async function inPieces(recording: Recording, cuts: readonly number[], response: Parameters<VendorReply>[1]) {
  const bytes = bytesOf(recording)
  response.writeHead(recording.status, { 'content-type': recording.contentType })
  let from = 0
  for (const cut of cuts) {
    await new Promise((resolve) => response.write(bytes.subarray(from, cut), resolve))
    await new Promise((resolve) => setImmediate(resolve))
    from = cut
  }
  response.end(bytes.subarray(from))
}

function thirds(length: number): number[] {
  return [Math.floor(length / 3), Math.floor((2 * length) / 3)]
}

/** The ends of up to ten frames. */
function ends(bytes: Buffer): number[] {
  let at = 0
  return framesOf(bytes)
    .map((frame) => (at += frame.length))
    .slice(0, 10)
}

function framesOf(bytes: Buffer): Buffer[] {
  return bytes
    .toString('utf8')
    .split(/(?<=\n\n)/)
    .map((frame) => Buffer.from(frame))
}

function receiptFor({ expect: { error, usage } }: Recording): object {
  const outcome = error === undefined ? 'completed' : 'failed'
  if (usage === undefined || usage === null) return { outcome, usageSource: 'estimated', attempts: 1 }
  const { prompt_tokens, completion_tokens, total_tokens } = usage
  return { outcome, usageSource: 'reported', usage: { prompt_tokens, completion_tokens, total_tokens }, attempts: 1 }
}

function secretsOf({ expect: { error } }: Recording): string[] {
  const { must_not_contain: secrets = [] } = (error ?? {}) as { must_not_contain?: string[] }
  return error === undefined ? [] : [...secrets, 'failed_generation', 'Token limit reached', 'billing details']
}
