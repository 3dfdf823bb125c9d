/** The official client, connected to a gateway with the demo model in this process. */
import OpenAI from 'openai'
import type { ChatCompletion, ChatCompletionMessage, ChatCompletionTool } from 'openai/resources/chat/completions'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/fetch'
import { demo } from 'modelhatch/providers'

const gateway = createGateway({ keys: { 'sk-demo': {} }, models: { demo: demo({ paceMs: 0 }) } })

export const client = new OpenAI({
  baseURL: 'http://gateway.test/v1',
  apiKey: 'sk-demo',
  maxRetries: 0,
  fetch: (url, init) => mount(gateway)(new Request(url, init)),
})

type Question = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'messages' | 'stream'> & {
  messages?: OpenAI.ChatCompletionMessageParam[]
}

export function ask(question: string, more: Question = {}): Promise<ChatCompletion> {
  return client.chat.completions.create({ model: 'demo', messages: [{ role: 'user', content: question }], ...more })
}

/** The text of the response to a question. */
export async function say(question: string, more?: Question): Promise<string | null> {
  return (await messageTo(question, more)).content
}

export async function messageTo(question: string, more?: Question): Promise<ChatCompletionMessage> {
  const { choices } = await ask(question, more)
  return (choices[0] as ChatCompletion.Choice).message
}

/** The tool calls of a response, with parsed arguments. */
export async function callsFor(question: string, more: Question): Promise<[name: string, input: unknown][]> {
  const { tool_calls: calls = [] } = await messageTo(question, more)
  return calls.map((call) =>
    call.type === 'function'
      ? [call.function.name, JSON.parse(call.function.arguments)]
      : [call.custom.name, call.custom.input],
  )
}

export function tool(name: string, properties: Record<string, object> = {}): ChatCompletionTool {
  return {
    type: 'function',
    function: { name, parameters: { type: 'object', properties, required: Object.keys(properties) } },
  }
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
