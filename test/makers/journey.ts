/** Conversations with tools that change their maker from turn to turn, through each of the three endpoints. */
import { framesOf, post } from '../endpoints/ask.ts'
import { hostedWith, type Hosted } from '../hosted.ts'
import { reasoner } from './chat.ts'
import { claude } from './claude.ts'
import { contentIn, messageIn } from './collected.ts'
import { gemini } from './gemini.ts'
import { gpt } from './gpt.ts'
import type { Line, Maker, Sent } from './maker.ts'

export type MakerName = 'claude' | 'gemini' | 'gpt' | 'deepseek' | 'kimi'
export type Makers = Readonly<Record<MakerName, Maker>>

export async function allMakers(): Promise<Makers> {
  const [first, second, third, fourth, fifth] = await Promise.all([
    claude(),
    gemini(),
    gpt(),
    reasoner('deepseek'),
    reasoner('moonshot'),
  ])
  return { claude: first, gemini: second, gpt: third, deepseek: fourth, kimi: fifth }
}

/** A gateway over the makers, each under its name. */
export async function gatewayOver(makers: Readonly<Record<string, Maker>>): Promise<Hosted> {
  const entries = Object.entries(makers).map(([name, { provider, providerModel }]) => [
    name,
    { provider, providerModel },
  ])
  return hostedWith({ models: Object.fromEntries(entries), retry: { maxAttempts: 1 } })
}

/** How a client talks to the gateway. */
export interface Way {
  readonly via: keyof typeof ways
  readonly stream: boolean
  /** Further fields of each request. Default: none. */
  readonly fields?: object
  /** The model of all requests. Default: the name of the maker whose turn it is. */
  readonly model?: string
  /** What the client does to the history before it sends it. Default: nothing. */
  readonly edit?: (history: Sent[]) => Sent[]
}

/** What happened in one turn. */
export interface Step {
  readonly maker: string
  readonly status: number
  /** The error, if there is one. */
  readonly text: string
}

/** Every fourth turn is an answer; the others call one tool or two. */
export function lineOf(turn: number): Line {
  return { turn, calls: turn % 4 === 3 ? 0 : turn % 3 === 0 ? 2 : 1 }
}

/** Talks to one maker after the other, and returns the results of all tools. Stops at the first error. */
export async function journey(url: string, makers: Makers, order: readonly MakerName[], way: Way): Promise<Step[]> {
  const steps: Step[] = []
  const talk = ways[way.via](url, way)
  for (const [turn, name] of order.entries()) {
    makers[name].says = lineOf(turn)
    for (const maker of order) makers[maker].setDown(way.model !== undefined && maker !== name)
    const { status, text } = await talk(way.model ?? name)
    steps.push({ maker: name, status, text: status === 200 ? '' : text })
    if (status !== 200) break
  }
  return steps
}

type Talk = (model: string) => Promise<{ readonly status: number; readonly text: string }>

const parameters = { type: 'object', properties: {} }
const goOn = 'Go on.'
const ok = { status: 200, text: '' }

const ways = { chat, responses, id: responsesById, messages }

function chat(url: string, { stream, fields, edit = (history) => history }: Way): Talk {
  let history: Sent[] = [{ role: 'user', content: 'Hi' }]
  const tools = [{ type: 'function', function: { name: 'now', parameters } }]
  return async (model) => {
    const sent = edit(history)
    const answer = await post(url, '/chat/completions', { model, messages: sent, tools, stream, ...fields })
    const { status, text } = answer
    if (status !== 200) return { status, text }
    const message = stream ? messageIn(framesOf(answer)) : (answer.json as Sent).choices[0].message
    const results = (message.tool_calls ?? []).map(({ id }: Sent) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'noon',
    }))
    history = [...history, message, ...(results.length > 0 ? results : [{ role: 'user', content: goOn }])]
    return ok
  }
}

const responseTools = [{ type: 'function', name: 'now', parameters }]

function responses(url: string, { stream, edit = (history) => history }: Way): Talk {
  let history: Sent[] = [{ role: 'user', content: 'Hi' }]
  return async (model) => {
    const input = edit(history)
    const { status, text, output } = await respond(url, { model, input, tools: responseTools, store: false, stream })
    if (output !== undefined) history = [...history, ...output, ...outputsFor(output)]
    return { status, text }
  }
}

function responsesById(url: string, { stream }: Way): Talk {
  let input: Sent[] = [{ role: 'user', content: 'Hi' }]
  let previous: string | undefined
  return async (model) => {
    const body = { model, input, tools: responseTools, stream, previous_response_id: previous }
    const { status, text, output, id } = await respond(url, body)
    if (output !== undefined) input = outputsFor(output)
    previous = id
    return { status, text }
  }
}

async function respond(
  url: string,
  body: object,
): Promise<{ status: number; text: string; output?: Sent[]; id?: string }> {
  const answer = await post(url, '/responses', body)
  const { status, text } = answer
  if (status !== 200) return { status, text }
  const last = answer.json ?? JSON.parse(framesOf(answer).at(-2) ?? '{}').response
  const { output, id, status: end } = last
  return end === 'completed' ? { status, text: '', output, id } : { status: 500, text }
}

function outputsFor(output: readonly Sent[]): Sent[] {
  const calls = output.filter(({ type }) => type === 'function_call')
  const results = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'noon' }))
  return results.length > 0 ? results : [{ role: 'user', content: goOn }]
}

function messages(url: string, { stream, fields, edit = (history) => history }: Way): Talk {
  let history: Sent[] = [{ role: 'user', content: 'Hi' }]
  const tools = [{ name: 'now', input_schema: parameters }]
  return async (model) => {
    const sent = edit(history)
    const answer = await post(url, '/messages', { model, max_tokens: 4_000, messages: sent, tools, stream, ...fields })
    const { status, text } = answer
    if (status !== 200) return { status, text }
    const content = stream
      ? contentIn(framesOf(answer).map((frame) => JSON.parse(frame)))
      : (answer.json as Sent).content
    if (content === undefined) return { status: 500, text }
    const results = content
      .filter(({ type }: Sent) => type === 'tool_use')
      .map(({ id }: Sent) => ({ type: 'tool_result', tool_use_id: id, content: 'noon' }))
    const next = results.length > 0 ? results : [{ type: 'text', text: goOn }]
    history = [...history, { role: 'assistant', content }, { role: 'user', content: next }]
    return ok
  }
}

/** All orders of a list. */
export function permutations<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]]
  return list.flatMap((first, at) =>
    permutations(list.filter((_, index) => index !== at)).map((rest) => [first, ...rest]),
  )
}
