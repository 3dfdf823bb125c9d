/**
 * A bot that answers in the threads of Slack. Its calls stay in the process, and each person has a cap for the day.
 *
 *     SLACK_SIGNING_SECRET=… SLACK_BOT_TOKEN=xoxb-… npm run example examples/slack-bot.ts
 *
 * In Slack: the event `app_mention` with the URL `https://<your host>/slack/events`, and the scopes `app_mentions:read`,
 * `chat:write`, `channels:history` and `groups:history`. Without the token, it prints what it would send to Slack.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/fetch'
import { demo, openai } from 'modelhatch/providers'
import OpenAI, { APIError } from 'openai'

const { SLACK_SIGNING_SECRET = randomBytes(24).toString('hex'), SLACK_BOT_TOKEN, OPENAI_API_KEY } = process.env
const { SLACK_API_URL = 'https://slack.com/api', CALLS_A_DAY = '100' } = process.env

const gateway = createGateway({
  models: {
    assistant: {
      provider: OPENAI_API_KEY === undefined ? demo() : openai({ apiKey: OPENAI_API_KEY }),
      providerModel: OPENAI_API_KEY === undefined ? 'demo' : 'gpt-5-mini',
      set: { max_completion_tokens: 1_000 },
    },
  },
  groups: {
    slack: {
      models: '*',
      caps: [{ name: 'person', per: 'user', period: 'day', calls: Number(CALLS_A_DAY) }],
      rate: { concurrent: 10 },
    },
  },
  // Caps are counted with the books. Nothing is charged here: the model has no price.
  billing: { currency: 'USD', unpriced: 'free' },
  // Only the bot calls this gateway, as it is mounted at no server. Caps of people need a name that callers cannot choose.
  authenticate: ({ headers }) => ({ account: 'slack', group: 'slack', user: String(headers['x-slack-user']) }),
})

/** Calls the gateway without a network. */
const handle = mount(gateway)
const models = new OpenAI({
  apiKey: 'not used',
  baseURL: 'http://gateway/v1',
  maxRetries: 0,
  fetch: (url, init) => handle(new Request(url, init)),
})

interface Message {
  readonly text: string
  readonly ts: string
  readonly thread_ts?: string
  readonly user?: string
  readonly bot_id?: string
}
type Mention = Message & { readonly type: string; readonly channel: string; readonly user: string }

/** Slack repeats events that it takes for lost. With several processes, keep the ids in your database. */
const seen = new Set<string>()

const app = express()
// The signature covers the exact bytes, so the body must not be parsed before.
app.post('/slack/events', express.text({ type: 'application/json' }), (request, response) => {
  const body = String(request.body)
  if (!isSigned(body, request.get('x-slack-request-timestamp') ?? '', request.get('x-slack-signature') ?? '')) {
    return void response.sendStatus(401)
  }
  const { type, challenge, event_id: id, event } = JSON.parse(body) as Record<string, string> & { event?: Mention }
  if (type === 'url_verification') return void response.type('text').send(challenge)
  // Slack waits for three seconds only: the answer follows by itself.
  response.sendStatus(200)
  if (event?.type !== 'app_mention' || event.bot_id !== undefined || id === undefined || seen.has(id)) return
  seen.add(id)
  if (seen.size > 10_000) for (const oldest of seen) if (seen.delete(oldest)) break
  answer(event).catch((error: unknown) => console.error('No answer was sent:', error))
})

/** Whether Slack has signed a body in the last five minutes. */
function isSigned(body: string, time: string, signature: string): boolean {
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(time, body))]
  const isRecent = Math.abs(Date.now() / 1000 - Number(time)) < 300
  return isRecent && given.length === expected.length && timingSafeEqual(given, expected)
}

function signatureOf(time: string, body: string): string {
  return `v0=${createHmac('sha256', SLACK_SIGNING_SECRET).update(`v0:${time}:${body}`).digest('hex')}`
}

/** Answers a mention in its thread, with what was said there before. */
async function answer({ channel, user, ...mention }: Mention): Promise<void> {
  const { ts, thread_ts: thread = ts } = mention
  const earlier = thread === ts ? undefined : await slack('conversations.replies', { channel, ts: thread, limit: '50' })
  const said = earlier?.messages ?? [mention]
  const messages = said.map(({ bot_id: bot, text }) => ({
    role: bot === undefined ? ('user' as const) : ('assistant' as const),
    content: text.replace(/<@\w+>/g, '').trim(),
  }))
  const options = { headers: { 'x-slack-user': user } }
  const text = await models.chat.completions.create({ model: 'assistant', messages }, options).then(
    ({ choices }) => choices[0]?.message.content ?? '',
    (error: unknown) => (error instanceof APIError ? error.message : 'I cannot answer now.'),
  )
  // Without it, `<!channel>` in an answer would call everybody.
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  await slack('chat.postMessage', { channel, thread_ts: thread, text: escaped })
}

/** Calls a method of Slack. */
async function slack(method: string, fields: Record<string, string>): Promise<{ messages?: Message[] }> {
  if (SLACK_BOT_TOKEN === undefined) {
    console.log(method, fields)
    return {}
  }
  const response = await fetch(`${SLACK_API_URL}/${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SLACK_BOT_TOKEN}` },
    body: new URLSearchParams(fields),
    signal: AbortSignal.timeout(10_000),
  })
  const body = (await response.json()) as { ok: boolean; error?: string; messages?: Message[] }
  if (!body.ok) throw new Error(`${method}: ${body.error}`)
  return body
}

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`
  console.log(`Slack sends its events to ${url} .`)
  if (SLACK_BOT_TOKEN) return
  const event = { type: 'app_mention', channel: 'C1', user: 'U1', ts: '1', text: 'Hello' }
  const body = JSON.stringify({ type: 'event_callback', event_id: '1', event })
  const time = String(Math.floor(Date.now() / 1_000))
  console.log(`To try it without Slack, within five minutes:

curl ${url} -H 'Content-Type: application/json' -d '${body}' \\
  -H 'x-slack-request-timestamp: ${time}' -H 'x-slack-signature: ${signatureOf(time, body)}'`)
})
process.once('SIGTERM', () => void gateway.close({ graceMs: 5_000 }).then(() => server.close()))
