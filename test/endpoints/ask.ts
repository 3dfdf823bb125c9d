/** Requests to a hosted gateway with the key `sk-test`, and their responses. */
import OpenAI from 'openai'
import { openai, type ChatAnswer, type Provider } from '../../src/providers/index.ts'

export interface Answered {
  readonly status: number
  readonly text: string
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown
}

export async function ask(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  key = 'sk-test',
): Promise<Answered> {
  const response = await fetch(`${url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json: unknown = response.headers.get('content-type')?.startsWith('application/json')
    ? JSON.parse(text)
    : undefined
  return { status: response.status, text, json }
}

export function post(url: string, path: string, body: unknown, key?: string): Promise<Answered> {
  return ask(url, 'POST', path, body, key)
}

/** The `error` object of an error response. */
export function errorOf({ json }: Answered): { code: string; param: string | null; message: string } {
  return (json as { error: { code: string; param: string | null; message: string } }).error
}

/** The data of every frame of a stream, the last `[DONE]` included. */
export function framesOf({ text }: Answered): string[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  return lines.map((line) => line.slice('data: '.length))
}

export function clientOf(url: string, key = 'sk-test'): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
}

/** A vendor in OpenAI's format whose only endpoint is chat. */
export function onlyChats(baseURL: string): Provider {
  const vendor = openai({ baseURL })
  return { name: 'chats', chat: async (call) => (await vendor.chat?.(call)) as ChatAnswer }
}
