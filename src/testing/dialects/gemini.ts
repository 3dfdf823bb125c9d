import {
  finishOf,
  merged,
  piecesOf,
  requireResults,
  type Dialect,
  type DialectTurn,
  type ErrorKind,
  type Script,
  type ScriptedUsage,
} from './dialect.ts'

const head = { responseId: 'scripted', modelVersion: 'gemini-2.5-flash' }

/** Gemini has no finish reason of its own for tool calls. */
const reasons = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' }

/** The format of Google's `generateContent` and `streamGenerateContent`. */
export const geminiDialect: Dialect = {
  name: 'gemini',
  model: 'gemini-2.5-flash',
  reports: ['audio', 'cachedAudio', 'images', 'outputImages', 'serviceTier'],
  body(script) {
    const { reasoning, text } = script
    const parts = [
      ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
      ...(text === undefined ? [] : [{ text }]),
      ...callsIn(script),
    ]
    return JSON.stringify(response(parts, script))
  },
  stream(script) {
    const { reasoning = '', text = '' } = script
    const frames = [
      ...piecesOf(reasoning).map((piece) => frame(response([{ text: piece, thought: true }]))),
      ...piecesOf(text).map((piece) => frame(response([{ text: piece }]))),
      ...callsIn(script).map((part) => frame(response([part]))),
      frame(response([{ text: '', thoughtSignature: 'c2lnbmVk' }], script)),
    ]
    return { frames, complete: frames.length }
  },
  errorReply(kind, secret) {
    const [code, status, details] = errors[kind]
    return {
      status: code,
      headers: { 'x-secret': secret },
      body: JSON.stringify({ error: { code, message: secret, status, details } }),
    }
  },
  errorFrame: (secret) => frame({ error: { code: 503, message: secret, status: 'UNAVAILABLE' } }),
  parse({ url, json }) {
    const { systemInstruction, contents, tools = [] } = json as Request
    requireOrder(joined(contents))
    return {
      stream: url.includes(':streamGenerateContent'),
      instructions: (systemInstruction?.parts ?? []).map(({ text = '' }) => text).join('\n\n'),
      turns: merged(contents.map(turnOf)),
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    }
  },
}

interface Request {
  readonly systemInstruction?: { readonly parts: readonly Part[] }
  readonly contents: readonly Content[]
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[]
}

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly Part[]
}

interface Part {
  readonly text?: string
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly inlineData?: { readonly data: string }
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: unknown }
  readonly functionResponse?: { readonly name: string; readonly response: Readonly<Record<string, unknown>> }
}

/** Contents of one role that follow each other are one turn, such as the pieces of a streamed answer. */
function joined(contents: readonly Content[]): readonly Content[] {
  const turns: Content[] = []
  for (const content of contents) {
    const last = turns.at(-1)
    if (last?.role === content.role) turns[turns.length - 1] = { ...last, parts: [...last.parts, ...content.parts] }
    else turns.push(content)
  }
  return turns
}

/** A turn's results must come first in the next turn. */
function requireOrder(contents: readonly Content[]): void {
  contents.forEach(({ parts }, index) => {
    const calls = parts.flatMap(({ functionCall: call }) => call?.name ?? [])
    const next = contents[index + 1]?.parts.slice(0, calls.length) ?? []
    requireResults(
      calls,
      next.flatMap(({ functionResponse: result }) => result?.name ?? []),
    )
  })
}

function turnOf({ role, parts }: Content): DialectTurn {
  return {
    role: role === 'model' ? 'assistant' : 'user',
    text: parts.map(({ text = '', thought }) => (thought === true ? '' : text)).join(''),
    images: parts.flatMap(({ inlineData }) => (inlineData === undefined ? [] : [inlineData.data])),
    calls: parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ name: call.name, input: call.args }],
    ),
    results: parts.flatMap(({ functionResponse: result }) => {
      if (result === undefined) return []
      const { output = result.response['content'] } = result.response
      return [{ name: result.name, text: typeof output === 'string' ? output : JSON.stringify(result.response) }]
    }),
  }
}

/** The first call of a turn carries the thought signature. */
function callsIn({ calls = [] }: Script): Part[] {
  return calls.map(({ id, name, input }, index) => {
    return { functionCall: { id, name, args: input }, ...(index === 0 && { thoughtSignature: 'c2lnbmVk' }) }
  })
}

function response(parts: readonly Part[], end?: Script): object {
  const finish = end === undefined ? {} : { finishReason: reasons[finishOf(end)] }
  const candidates = [{ content: { role: 'model', parts }, ...finish, index: 0 }]
  return { candidates, ...(end?.usage !== undefined && { usageMetadata: usageOf(end.usage) }), ...head }
}

/** Gemini's `candidatesTokenCount` does not include thoughts. */
function usageOf(usage: ScriptedUsage) {
  const { input, cached, output, reasoning, audio = 0, cachedAudio = 0, images = 0, outputImages = 0 } = usage
  return {
    promptTokenCount: input,
    promptTokensDetails: tokens({ TEXT: input - audio - images, AUDIO: audio, IMAGE: images }),
    cachedContentTokenCount: cached,
    cacheTokensDetails: tokens({ TEXT: cached - cachedAudio, AUDIO: cachedAudio }),
    candidatesTokenCount: output - reasoning,
    candidatesTokensDetails: tokens({ TEXT: output - reasoning - outputImages, IMAGE: outputImages }),
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
    serviceTier: usage.serviceTier ?? 'standard',
  }
}

function tokens(counts: Readonly<Record<string, number>>): object[] {
  const given = Object.entries(counts).filter(([, tokenCount]) => tokenCount > 0)
  return given.map(([modality, tokenCount]) => ({ modality, tokenCount }))
}

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`
}

const errors: Readonly<Record<ErrorKind, readonly [number, string, object[]]>> = {
  invalid: [400, 'INVALID_ARGUMENT', []],
  key: [400, 'INVALID_ARGUMENT', [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]],
  'empty account': [400, 'FAILED_PRECONDITION', []],
  rate: [429, 'RESOURCE_EXHAUSTED', [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '6.2s' }]],
  overloaded: [503, 'UNAVAILABLE', []],
  broken: [500, 'INTERNAL', []],
}
