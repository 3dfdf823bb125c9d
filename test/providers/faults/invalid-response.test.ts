/** A response of a vendor that cannot be read is told apart from a vendor that fails, in telemetry and so in metrics. */
import { gzipSync } from 'node:zlib'
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { expect, test } from 'vitest'
import { createGateway } from '../../../src/index.ts'
import { hosted, vendorFor } from '../../hosted.ts'
import { Recorder } from '../../observe/recorder.ts'

const as =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}, status = 200): VendorReply =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': type, ...headers }).end(body)
const json = (value: unknown) => as('application/json', JSON.stringify(value))
const page = as('text/html', '<html>')
const events = (...list: object[]) =>
  as('text/event-stream', list.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''))
const named = (...list: { type: string }[]) =>
  as('text/event-stream', list.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join(''))

const chat = openai
const answers = (options: object) => openai({ ...options, responses: true })
const google = ({ baseURL }: { baseURL: string }) => gemini({ baseURL: baseURL.replace('/v1', '') })
const claude = ({ baseURL }: { baseURL: string }) => anthropic({ baseURL })

const messages = [{ role: 'user', content: 'Hi' }]
const asked = { messages, max_tokens: 100 }
const start = { type: 'message_start', message: { id: 'msg_1', model: 'c', usage: { input_tokens: 3 } } }
const candidate = (finishReason: string) => ({ candidates: [{ content: { parts: [] }, finishReason }] })
const form = () => {
  const body = new FormData()
  body.set('model', 'm')
  body.set('file', new File(['x'], 'a.mp3', { type: 'audio/mpeg' }))
  return body
}

type Case = readonly [
  what: string,
  provider: (options: { baseURL: string; answerBytes?: number }) => Provider,
  path: string,
  body: object | FormData,
  reply: VendorReply,
]

const cases: readonly Case[] = [
  ['a chat without choices', chat, 'chat/completions', asked, json({ choices: [] })],
  ['a chat with choices that are no objects', chat, 'chat/completions', asked, json({ choices: [7] })],
  ['a page in place of a stream', chat, 'chat/completions', { ...asked, stream: true }, page],
  ['a stream of a chat without content', chat, 'chat/completions', { ...asked, stream: true }, events()],
  ['a redirect', chat, 'chat/completions', asked, as('text/html', '', { location: 'https://elsewhere.test' }, 302)],
  [
    'a compressed response',
    chat,
    'chat/completions',
    asked,
    as('application/json', gzipSync('{}'), { 'content-encoding': 'gzip' }),
  ],
  ['an endless response', chat, 'chat/completions', asked, as('application/json', ' '.repeat(5_000_000))],
  ['a completion without choices', chat, 'completions', { prompt: 'Hi' }, json({ choices: [] })],
  ['too few vectors', chat, 'embeddings', { input: ['a', 'b'] }, json({ data: [{ index: 0, embedding: [1] }] })],
  ['too few moderations', chat, 'moderations', { input: ['a', 'b'] }, json({ results: [] })],
  ['a transcript without text', chat, 'audio/transcriptions', form(), json({})],
  ['a page in place of events', answers, 'responses', { input: 'Hi', stream: true }, page],
  [
    'a response without its last event',
    answers,
    'responses',
    { input: 'Hi', stream: true },
    named({ type: 'response.created' }),
  ],
  ['a response without its last event, for a message', answers, 'messages', asked, named({ type: 'response.created' })],
  ['a message without content', claude, 'messages', asked, json({ type: 'message' })],
  ['a page in place of a message', claude, 'messages', { ...asked, stream: true }, page],
  ['a message that breaks off', claude, 'messages', { ...asked, stream: true }, named(start)],
  ['a message without its beginning', claude, 'messages', { ...asked, stream: true }, named({ type: 'message_stop' })],
  [
    'an event that is not JSON',
    claude,
    'messages',
    { ...asked, stream: true },
    as('text/event-stream', 'data: no\n\n'),
  ],
  [
    'an event that is no object',
    claude,
    'messages',
    { ...asked, stream: true },
    as('text/event-stream', 'data: 7\n\n'),
  ],
  ['a malformed call', google, 'chat/completions', asked, json(candidate('MALFORMED_FUNCTION_CALL'))],
  ['no vectors', google, 'embeddings', { input: 'a' }, json({})],
  ['no image', google, 'images/generations', { prompt: 'a' }, json(candidate('STOP'))],
]

test.each(cases)('%s is an invalid response', async (_, provider, path, body, reply) => {
  const vendor = await vendorFor(reply)
  const recorder = new Recorder()
  const url = await hosted(
    createGateway({
      keys: { 'sk-test': {} },
      models: { m: provider({ baseURL: vendor.baseURL, ...(provider === chat && { answerBytes: 1_000_000 }) }) },
      retry: { maxAttempts: 1 },
      telemetry: [recorder],
    }),
  )
  const isForm = body instanceof FormData
  const response = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', ...(!isForm && { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify({ model: 'm', ...body }),
  })
  await response.text()
  const { attempts, end } = await recorder.ended()
  const fault = 'provider_invalid_response'
  expect([attempts[0]?.end?.fault, end.fault]).toEqual([fault, fault])
})
