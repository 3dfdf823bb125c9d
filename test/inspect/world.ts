/** A gateway with inspectors before a vendor of chats that says what it is told, and clients of all wire formats. */
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import type OpenAI from 'openai'
import type { GatewayOptions } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { hostedWith, vendorFor, type Hosted } from '../hosted.ts'
import { clientOf } from '../endpoints/ask.ts'
import type { ScriptedVendor } from '../../src/testing/vendor.ts'

export interface World extends Hosted {
  readonly vendor: ScriptedVendor
  /** What the vendor was asked, as text. */
  readonly asked: () => string
  readonly openai: OpenAI
  readonly claude: Anthropic
  readonly google: GoogleGenAI
  readonly failures: unknown[]
}

/** The pieces of an answer: texts, or the input of a call of the tool `send`. */
export interface Script {
  readonly texts?: readonly string[]
  readonly inputs?: readonly string[]
  /** Called after each piece. */
  readonly after?: (index: number) => Promise<void> | void
}

export async function worldWith(
  options: Omit<GatewayOptions, 'models'>,
  script: (body: string) => Script,
): Promise<World> {
  const vendor = await vendorFor(async ({ body, json, signal }, response) => {
    const { texts = [], inputs = [], after } = script(body.toString())
    const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const reason = inputs.length > 0 ? 'tool_calls' : 'stop'
    if ((json as { stream?: boolean }).stream !== true) {
      const call = { id: 'call_1', type: 'function', function: { name: 'send', arguments: inputs.join('') } }
      const message = { role: 'assistant', content: texts.join(''), ...(inputs.length > 0 && { tool_calls: [call] }) }
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          ...head,
          object: 'chat.completion',
          choices: [{ index: 0, message, finish_reason: reason }],
          usage,
        }),
      )
      return
    }
    response.setHeader('content-type', 'text/event-stream')
    const send = (delta: object, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      )
    let index = 0
    for (const content of texts) {
      if (signal.aborted) return
      send({ content })
      await after?.(index++)
    }
    for (const [at, text] of inputs.entries()) {
      const begun =
        at === 0 ? { id: 'call_1', type: 'function', function: { name: 'send', arguments: text } } : undefined
      send({ tool_calls: [{ index: 0, ...(begun ?? { function: { arguments: text } }) }] })
      await after?.(index++)
    }
    send({}, reason)
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  const failures: unknown[] = []
  const hosted = await hostedWith({
    models: { m: openai({ baseURL: vendor.baseURL, apiKey: 'k' }) },
    hooks: { failure: ({ error }) => void failures.push(error) },
    ...options,
  })
  const { url } = hosted
  return {
    ...hosted,
    vendor,
    failures,
    asked: () => vendor.requests.map(({ body }) => body.toString()).join('\n'),
    openai: clientOf(url),
    claude: new Anthropic({ baseURL: url, apiKey: 'sk-test', maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey: 'sk-test', httpOptions: { baseUrl: url } }),
  }
}

/** What each wire format's own client gets of an answer to a text: its text, the input of a call, and why it ended. */
export interface Said {
  text: string
  input: string
  end: string
}

export type Wire = 'chat' | 'responses' | 'messages' | 'gemini' | 'completions'

export const wires: readonly Wire[] = ['chat', 'responses', 'messages', 'gemini']

const parameters = { type: 'object', properties: { to: { type: 'string' } } } as const

/** Asks by the official client of a wire format, and collects its answer. */
export async function say(world: World, wire: Wire, text: string, stream: boolean): Promise<Said> {
  const said: Said = { text: '', input: '', end: '' }
  switch (wire) {
    case 'chat': {
      const tools = [{ type: 'function' as const, function: { name: 'send', parameters } }]
      const body = { model: 'm', messages: [{ role: 'user' as const, content: text }], tools }
      if (!stream) {
        const { choices } = await world.openai.chat.completions.create(body)
        const [choice] = choices
        said.text = (choice?.message.content ?? '') + (choice?.message.refusal ?? '')
        for (const call of choice?.message.tool_calls ?? [])
          if ('function' in call) said.input += call.function.arguments
        said.end = choice?.finish_reason ?? ''
        return said
      }
      for await (const { choices } of await world.openai.chat.completions.create({ ...body, stream })) {
        for (const { delta, finish_reason: reason } of choices) {
          said.text += (delta.content ?? '') + (delta.refusal ?? '')
          for (const call of delta.tool_calls ?? []) said.input += call.function?.arguments ?? ''
          said.end = reason ?? said.end
        }
      }
      return said
    }
    case 'responses': {
      const tools = [{ type: 'function' as const, name: 'send', parameters, strict: false }]
      const body = { model: 'm', input: text, tools, store: false }
      const response = stream
        ? await world.openai.responses.stream(body).finalResponse()
        : await world.openai.responses.create(body)
      for (const item of response.output) {
        if (item.type === 'function_call') said.input += item.arguments
        if (item.type === 'message')
          for (const part of item.content) said.text += part.type === 'output_text' ? part.text : part.refusal
      }
      said.end = response.incomplete_details?.reason ?? response.status ?? ''
      return said
    }
    case 'messages': {
      const body = {
        model: 'm',
        max_tokens: 1000,
        messages: [{ role: 'user' as const, content: text }],
        tools: [{ name: 'send', input_schema: parameters }],
      }
      const message = stream
        ? await world.claude.messages.stream(body as never).finalMessage()
        : await world.claude.messages.create(body as never)
      for (const block of message.content) {
        if (block.type === 'text') said.text += block.text
        if (block.type === 'tool_use') said.input += JSON.stringify(block.input)
      }
      said.end = message.stop_reason ?? ''
      return said
    }
    case 'gemini': {
      const config = { tools: [{ functionDeclarations: [{ name: 'send', parametersJsonSchema: parameters }] }] }
      const body = { model: 'm', contents: text, config }
      const list = stream
        ? await world.google.models.generateContentStream(body)
        : [await world.google.models.generateContent(body)]
      for await (const { candidates = [] } of list) {
        for (const { content, finishReason } of candidates) {
          for (const part of content?.parts ?? []) {
            said.text += part.text ?? ''
            if (part.functionCall !== undefined) said.input += JSON.stringify(part.functionCall.args)
          }
          said.end = finishReason ?? said.end
        }
      }
      return said
    }
    case 'completions': {
      const body = { model: 'm', prompt: text }
      if (!stream) {
        const { choices } = await world.openai.completions.create(body)
        return { ...said, text: choices[0]?.text ?? '', end: choices[0]?.finish_reason ?? '' }
      }
      for await (const { choices } of await world.openai.completions.create({ ...body, stream })) {
        said.text += choices[0]?.text ?? ''
        said.end = choices[0]?.finish_reason ?? said.end
      }
      return said
    }
  }
}
