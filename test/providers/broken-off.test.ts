/**
 * Every recorded stream, truncated at any byte by a normal end or a broken connection. The client must get the beginning
 * of the response and an error, or the complete response; never an incomplete one that looks complete.
 */
import { createGateway, type Gateway } from 'modelhatch'
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { bodyText } from '../../src/testing/in-process.ts'
import { vendorFor } from '../hosted.ts'
import { long, thorough } from '../long.ts'
import { hasShared, sharedBytes } from '../shared.ts'
import { recordingsOf } from './recordings.ts'

const vendors =
  'openai azure xai deepseek groq mistral openrouter alibaba proxy perplexity lmstudio anthropic gemini'.split(' ')
const streams = vendors.flatMap(recordingsOf).filter(({ stream }) => stream)

/** Bytes between two truncations. In the short form a prime, so that all positions within frames occur. */
const stride = long ? 1 : thorough ? 499 : 1_999
const atOnce = 8

/** How the vendor ends a response: normally, or by closing the connection. */
const fates = ['ends', 'dies'] as const

const wires: Readonly<Record<string, { path: string; make: (baseURL: string) => Provider }>> = {
  'openai.chat': { path: 'chat/completions', make: (baseURL) => openai({ baseURL }) },
  'openai.completions': { path: 'completions', make: (baseURL) => openai({ baseURL }) },
  'openai.responses': { path: 'responses', make: (baseURL) => openai({ baseURL, responses: true }) },
  'anthropic.messages': { path: 'chat/completions', make: (baseURL) => anthropic({ baseURL }) },
  'gemini.streamGenerateContent': { path: 'chat/completions', make: (baseURL) => gemini({ baseURL }) },
}

interface StreamResult {
  readonly id: string | undefined
  readonly status: number
  /** The data of its events, without generated ids and times. */
  readonly events: readonly string[]
}

/** The text of the prompt selects where the vendor stops. */
async function ask(gateway: Gateway, path: string, word: string): Promise<StreamResult> {
  const prompts = {
    chat: { messages: [{ role: 'user', content: word }] },
    comp: { prompt: word },
    resp: { input: word },
  }
  const prompt = prompts[path.slice(0, 4) as 'chat']
  const options = path === 'responses' ? { store: false } : { stream_options: { include_usage: true } }
  const { signal } = new AbortController()
  const reply = await gateway.handle({
    method: 'POST',
    target: `/v1/${path}`,
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: { state: 'text', text: JSON.stringify({ model: 'm', stream: true, ...prompt, ...options }) },
    signal,
  })
  const text = await bodyText(reply, signal)
  const lines = text.split('\n').filter((line) => reply.status !== 200 || line.startsWith('data: '))
  return {
    id: reply.headers['x-request-id'],
    status: reply.status,
    events: lines.map((line) => withoutGenerated(line.replace('data: ', ''))),
  }
}

function withoutGenerated(text: string): string {
  return text
    .replaceAll(/(mh1\.\w+\.)([\w-]+)/g, (_, head: string, sealed: string) => head + openedText(sealed))
    .replaceAll(/(?:call|msg|resp|rs|fc|chatcmpl|cmpl)[-_][0-9a-f]{24,48}/g, 'made')
    .replaceAll(/"(created|created_at|completed_at)":1[78]\d{8}/g, '"$1":0')
}

/** What an envelope holds, as part of a JSON text: it has ids of calls that are generated, too. */
function openedText(sealed: string): string {
  return JSON.stringify(Buffer.from(sealed, 'base64url').toString()).slice(1, -1)
}

/** Throws if `result` is neither the beginning of `whole` and an error, nor complete. */
function judge(result: StreamResult, whole: StreamResult): 'refused' | 'broken' | 'whole' {
  const events = result.events.map(read)
  if (result.status !== 200) events.push(JSON.parse(result.events.join('\n')) as Event)
  const errors = events.filter(isError)
  expect(errors.map(codeOf), 'no fault of ours').not.toContain('server_error')
  if (result.status !== 200) return 'refused'
  const answer = events.filter((event) => !isCount(event))
  const all = whole.events.map(read).filter((event) => !isCount(event))
  const end = answer.findIndex((event) => isError(event) || isMark(event))
  expect(end, 'a stream ends with an error or a mark').toBeGreaterThan(-1)
  expect(answer.slice(0, end), 'the beginning of the answer').toEqual(all.slice(0, end))
  const rest = answer.slice(end)
  if (errors.length === 0) {
    const complete = JSON.stringify(rest) === JSON.stringify(all.slice(end)) || isEnd(answer[end - 1])
    expect(complete, 'a stream without an end from the vendor must end with an error').toBe(true)
    return 'whole'
  }
  expect(rest.slice(1).every((event) => isMark(event) || event.type === 'response.failed')).toBe(true)
  return 'broken'
}

interface Event {
  readonly type?: string
  readonly code?: string
  readonly error?: { readonly code?: string } | null
  readonly choices?: readonly { readonly finish_reason?: string | null }[]
}

/** Drops null: the gateway fills it in or not, depending on how the bytes arrived. */
function read(event: string): Event {
  if (!event.startsWith('{')) return { type: event }
  return JSON.parse(event, (_, value: unknown) => (value === null ? undefined : value)) as Event
}

function isMark({ type }: Event): boolean {
  return type === '[DONE]'
}

function isError({ type, error }: Event): boolean {
  return type === 'error' || (error !== undefined && error !== null)
}

function codeOf({ error, code }: Event): string | undefined {
  return error?.code ?? code
}

/** Whether an event has only usage, which is estimated if the vendor's did not arrive. */
function isCount({ choices }: Event): boolean {
  return choices?.length === 0
}

function isEnd(event: Event | undefined): boolean {
  return Boolean(event?.choices?.some(({ finish_reason: reason }) => reason))
}

test.skipIf(!hasShared)('there are recorded streams of every vendor', () => {
  for (const vendor of vendors) expect(streams.map((each) => each.vendor)).toContain(vendor)
})

test.each(streams)('$vendor $file', async (recording) => {
  const { wire, vendor: folder, file, status, contentType } = recording
  const { path, make } = wires[wire] as NonNullable<(typeof wires)[string]>
  const bytes = sharedBytes(`recordings/${folder}/${file}`)
  const vendor = await vendorFor((request, response) => {
    const [, stop = bytes.length, fate] = /stop at (\d+), (\w+)/.exec(request.body.toString()) ?? []
    response.writeHead(status, { 'content-type': contentType })
    const head = bytes.subarray(0, Number(stop))
    if (fate === 'dies') response.write(head, () => response.destroy())
    else response.end(head)
    vendor.requests.length = 0
  })
  const outcomes = new Map<string | undefined, string>()
  const gateway = createGateway({
    keys: { 'sk-test': {} },
    models: { m: { provider: make(vendor.baseURL), providerModel: 'theirs' } },
    retry: { maxAttempts: 1 },
    breaker: { failures: 1_000_000_000 },
    hooks: { receipt: ({ id, outcome }) => void outcomes.set(id, outcome) },
  })
  const whole = await ask(gateway, path, 'all of it')
  const seen = { refused: 0, broken: 0, whole: 0 }
  const runs = fates.flatMap((fate) =>
    Array.from({ length: Math.ceil(bytes.length / stride) }, (_, index) => ({ fate, stop: index * stride })),
  )
  const work = async () => {
    for (let run = runs.pop(); run !== undefined; run = runs.pop()) {
      const result = await ask(gateway, path, `stop at ${run.stop}, ${run.fate}`)
      try {
        const judged = judge(result, whole)
        seen[judged]++
        expect(outcomes.get(result.id)).toBe(judged === 'whole' ? 'completed' : 'failed')
      } catch (error) {
        throw new Error(`${run.fate} at byte ${run.stop}: ${JSON.stringify(result).slice(0, 2_000)}`, { cause: error })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await gateway.close({ graceMs: 0 })
  expect(seen.refused).toBeGreaterThan(0)
})
