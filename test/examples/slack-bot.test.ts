import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runExample, type RunningExample } from './example.ts'

const secret = 'signing secret'
/** What is said in Slack, and what the bot has called there. */
const thread: object[] = []
const calls: { method: string; token: string; fields: Record<string, string> }[] = []
const posted = () => calls.filter(({ method }) => method === '/chat.postMessage').map(({ fields }) => fields)

async function record(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const fields = Object.fromEntries(new URLSearchParams(await text(request)))
  calls.push({ method: request.url ?? '', token: request.headers.authorization ?? '', fields })
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ok: true, messages: thread }))
}
const slack = createServer((request, response) => void record(request, response))
let example: RunningExample

beforeAll(async () => {
  await new Promise<void>((resolve) => slack.listen(0, '127.0.0.1', resolve))
  example = await runExample('slack-bot', {
    SLACK_SIGNING_SECRET: secret,
    SLACK_BOT_TOKEN: 'xoxb-token',
    CALLS_A_DAY: '5',
    SLACK_API_URL: `http://127.0.0.1:${(slack.address() as AddressInfo).port}`,
  })
})
afterAll(async () => {
  expect(await example.stop()).toBe(0)
  slack.close().closeAllConnections()
})

interface Delivery {
  readonly signedWith?: string
  readonly ageSeconds?: number
  readonly sent?: string
}

/** Delivers a body as Slack does. */
async function deliver(body: object, { signedWith = secret, ageSeconds = 0, sent }: Delivery = {}) {
  const json = JSON.stringify(body)
  const time = String(Math.floor(Date.now() / 1000) - ageSeconds)
  const signature = createHmac('sha256', signedWith).update(`v0:${time}:${json}`).digest('hex')
  const response = await fetch(example.baseURL, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${signature}`,
    },
    body: sent ?? json,
  })
  return { status: response.status, text: await response.text() }
}

let ids = 0
const mention = (said: string, fields: object = {}) => ({
  type: 'event_callback',
  event_id: `Ev${ids++}`,
  event: { type: 'app_mention', channel: 'C1', user: 'U1', ts: `1.${ids}`, text: `<@UBOT> ${said}`, ...fields },
})

test('a mention is answered once in its thread, and calls nobody by what is in the answer', async () => {
  const event = mention('Reply with exactly: <!channel> & pong', { ts: '10.1' })
  expect((await deliver(event)).status).toBe(200)
  expect((await deliver(event)).status).toBe(200)
  const answer = { channel: 'C1', thread_ts: '10.1', text: '&lt;!channel&gt; &amp; pong' }
  await expect.poll(posted).toEqual([answer])
  expect(calls.map(({ token }) => token)).toEqual(['Bearer xoxb-token'])
  // What the bot itself says is no question.
  await deliver(mention('Hello', { bot_id: 'B1' }))
  await deliver(mention('Reply with exactly: last', { ts: '11.1' }))
  await expect.poll(posted).toEqual([answer, { channel: 'C1', thread_ts: '11.1', text: 'last' }])
})

test('the bot knows what was said in the thread', async () => {
  thread.push(
    { user: 'U1', ts: '20.1', text: '<@UBOT> My name is Ada.' },
    { user: 'UBOT', bot_id: 'B1', ts: '20.2', text: 'Hello, Ada!' },
    { user: 'U1', ts: '20.3', text: '<@UBOT> What is my name?' },
  )
  await deliver(mention('What is my name?', { ts: '20.3', thread_ts: '20.1' }))
  await expect.poll(() => posted().at(-1)).toMatchObject({ thread_ts: '20.1', text: expect.stringContaining('Ada') })
})

test('only recent events with Slack’s signature are taken', async () => {
  const before = calls.length
  expect(await deliver({ type: 'url_verification', challenge: 'c-1' })).toEqual({ status: 200, text: 'c-1' })
  expect((await deliver(mention('Hello'), { signedWith: 'guess' })).status).toBe(401)
  expect((await deliver(mention('Hello'), { ageSeconds: 600 })).status).toBe(401)
  expect((await deliver(mention('Hello'), { sent: JSON.stringify(mention('Other')) })).status).toBe(401)
  expect(calls.length).toBe(before)
})

test('a person who has used up the day is told so, others go on', async () => {
  const answersTo = (user: string) => posted().filter(({ channel }) => channel === user)
  const ask = async (user: string, times: number) => {
    await deliver(mention('Reply with exactly: ok', { user, channel: user }))
    await expect.poll(() => answersTo(user).length).toBe(times)
    return answersTo(user).at(-1)?.['text']
  }
  for (let times = 1; times <= 5; times++) expect(await ask('U9', times)).toBe('ok')
  expect(await ask('U9', 6)).toContain('person')
  expect(await ask('U8', 1)).toBe('ok')
})

test('it can be tried without Slack, with what it prints', async () => {
  const alone = await runExample('slack-bot')
  try {
    await expect.poll(alone.printed).toContain('x-slack-signature')
    const script = alone.printed().slice(alone.printed().indexOf('curl '))
    const { stdout } = await promisify(execFile)('sh', ['-c', script])
    expect(stdout).toBe('OK')
    await expect.poll(alone.printed).toContain("text: 'Hello")
  } finally {
    expect(await alone.stop()).toBe(0)
  }
})
