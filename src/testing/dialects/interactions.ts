import {
  finishOf,
  merged,
  piecesOf,
  requireResults,
  type Dialect,
  type DialectTurn,
  type Script,
  type ScriptedUsage,
} from './dialect.ts'
import { geminiDialect } from './gemini.ts'

const head = {
  id: 'v1_scripted',
  object: 'interaction',
  model: 'gemini-omni-flash',
  created: '2026-11-01T12:00:00Z',
  updated: '2026-11-01T12:00:01Z',
}

const statuses = { stop: 'completed', length: 'incomplete', tool_calls: 'requires_action', content_filter: 'failed' }

/** The format of Google's `interactions`. How it reports what its filter stops is not documented: as a failure. */
export const interactionsDialect: Dialect = {
  name: 'interactions',
  model: 'gemini-omni-flash',
  reports: ['audio', 'cachedAudio', 'images', 'outputImages', 'serviceTier'],
  body: (script) => JSON.stringify({ ...ended(script), steps: stepsIn(script) }),
  stream(script) {
    const steps = stepsIn(script).flatMap((step, index) => [
      event('step.start', { index, step: { ...step, ...emptied(step) } }),
      ...deltasOf(step).map((delta) => event('step.delta', { index, delta })),
      event('step.stop', { index }),
    ])
    const frames = [
      event('interaction.created', { interaction: { ...head, status: 'in_progress' } }),
      event('interaction.status_update', { interaction_id: head.id, status: 'in_progress' }),
      ...steps,
      event('interaction.completed', { interaction: ended(script) }),
      'event: done\ndata: [DONE]\n\n',
    ]
    return { frames, complete: frames.length - 1 }
  },
  errorReply: (kind, secret) => geminiDialect.errorReply(kind, secret),
  errorFrame: (secret) => event('error', { error: { code: 'unavailable', message: secret } }),
  parse({ url, json }) {
    const { system_instruction: instructions = '', input, tools = [], stream = false, store } = json as Request
    if (!url.endsWith('/interactions')) throw new Error(`unknown path ${url}`)
    if (store !== false) throw new Error('the interaction would be stored')
    requireOrder(input)
    return { stream, instructions, turns: merged(input.map(turnOf)), tools: tools.map(({ name }) => name) }
  },
}

interface Request {
  readonly system_instruction?: string
  readonly input: readonly Step[]
  readonly tools?: readonly { readonly name: string }[]
  readonly stream?: boolean
  readonly store?: boolean
}

interface Content {
  readonly type: string
  readonly text?: string
  readonly data?: string
}

interface Step {
  readonly type: string
  readonly content?: readonly Content[]
  readonly summary?: readonly Content[]
  readonly signature?: string
  readonly id?: string
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: unknown
  readonly result?: unknown
}

/** The results of calls stand directly behind them. */
function requireOrder(steps: readonly Step[]): void {
  let open: string[] = []
  let results: string[] = []
  const check = () => {
    requireResults(open, results)
    open = []
    results = []
  }
  for (const { type, id, call_id: callId } of steps) {
    if (type === 'function_call') {
      if (results.length > 0) check()
      open.push(String(id))
    } else if (type === 'function_result') results.push(String(callId))
    else if (type === 'user_input') check()
  }
  if (open.length > 0) check()
}

function turnOf(step: Step): DialectTurn {
  const { type, content = [], name = '', result } = step
  const isOurs = type === 'user_input' || type === 'function_result'
  return {
    role: isOurs ? 'user' : 'assistant',
    text: content.map(({ text = '' }) => text).join(''),
    images: content.flatMap(({ data }) => (data === undefined ? [] : [data])),
    calls: type === 'function_call' ? [{ name, input: step.arguments }] : [],
    results: type === 'function_result' ? [{ name, text: typeof result === 'string' ? result : '' }] : [],
  }
}

function stepsIn({ reasoning, text, calls = [] }: Script): Step[] {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'thought', summary: [{ type: 'text', text: reasoning }], signature: 'c2lnbmVk' }]),
    ...(text === undefined ? [] : [{ type: 'model_output', content: [{ type: 'text', text }] }]),
    ...calls.map(({ id, name, input }) => ({ type: 'function_call', id, name, arguments: input })),
  ]
}

/** What a step has before its pieces. */
function emptied({ type }: Step): object {
  if (type === 'thought') return { summary: undefined, signature: undefined }
  return type === 'model_output' ? { content: undefined } : { arguments: {} }
}

function deltasOf({ type, content = [], summary = [], signature, arguments: input }: Step): object[] {
  if (type === 'function_call') {
    const pieces = Object.keys(input as object).length === 0 ? [] : piecesOf(JSON.stringify(input))
    return pieces.map((piece) => ({ type: 'arguments_delta', arguments: piece }))
  }
  if (type === 'model_output') return texts(content).map((text) => ({ type: 'text', text }))
  return [
    ...texts(summary).map((text) => ({ type: 'thought_summary', content: { type: 'text', text } })),
    { type: 'thought_signature', signature },
  ]
}

function texts(list: readonly Content[]): string[] {
  return list.flatMap(({ text = '' }) => piecesOf(text))
}

function ended(script: Script): object {
  const { usage } = script
  return {
    ...head,
    status: statuses[finishOf(script)],
    service_tier: usage?.serviceTier ?? 'standard',
    ...(usage && { usage: usageOf(usage) }),
  }
}

/** Thoughts are not part of `total_output_tokens`. */
function usageOf(usage: ScriptedUsage) {
  const { input, cached, output, reasoning, audio = 0, cachedAudio = 0, images = 0, outputImages = 0 } = usage
  return {
    total_input_tokens: input,
    input_tokens_by_modality: tokens({ text: input - audio - images, audio, image: images }),
    total_cached_tokens: cached,
    cached_tokens_by_modality: tokens({ text: cached - cachedAudio, audio: cachedAudio }),
    total_output_tokens: output - reasoning,
    output_tokens_by_modality: tokens({ text: output - reasoning - outputImages, image: outputImages }),
    total_tool_use_tokens: 0,
    total_thought_tokens: reasoning,
    total_tokens: input + output,
  }
}

function tokens(counts: Readonly<Record<string, number>>): object[] {
  return Object.entries(counts).flatMap(([modality, count]) => (count > 0 ? [{ modality, tokens: count }] : []))
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ event_type: type, event_id: 'e', ...fields })}\n\n`
}
