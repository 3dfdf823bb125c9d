/**
 * A chat page that shows answers while they are written. Visitors need no account and no key; what all of them cost is limited.
 *
 *     npm run example examples/chat.ts
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express from 'express'
import session from 'express-session'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { demo, openai } from 'modelhatch/providers'

declare module 'express-session' {
  interface SessionData {
    visitor: string
  }
}

const { OPENAI_API_KEY: apiKey, SESSION_SECRET = randomBytes(24).toString('base64url') } = process.env

const gateway = createGateway({
  models: {
    assistant: {
      provider: apiKey === undefined ? demo() : openai({ apiKey }),
      providerModel: apiKey === undefined ? 'demo' : 'gpt-5-mini',
      // Of all visitors together: who deletes the cookie is a new visitor.
      rate: { requests: '300/min', concurrent: 20, per: 'all' },
      // What the page cannot change: the length of an answer.
      set: { max_completion_tokens: 1_000 },
    },
  },
  groups: { visitors: { models: ['assistant'], rate: { requests: '10/min', concurrent: 2 } } },
  sizes: { jsonBytes: 100_000 },
  authenticate({ host }) {
    const { visitor } = (host as express.Request).session
    return visitor === undefined ? undefined : { account: visitor, group: 'visitors' }
  },
})

const app = express()
app.use(
  session({
    secret: SESSION_SECRET,
    resave: false,
    saveUninitialized: false,
    // `lax`: other sites can link to the page, but their requests to the gateway carry no cookie.
    cookie: { httpOnly: true, sameSite: 'lax', secure: 'auto' },
  }),
)
app.use('/ai', mount(gateway))
app.get('/', (request, response) => {
  request.session.visitor ??= randomUUID()
  // Nothing but the files below: an answer cannot load anything, whatever is in it.
  const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'"
  response.set({ 'content-security-policy': policy, 'cache-control': 'no-store' }).send(page)
})
app.get('/chat.js', (_, response) => response.type('js').send(script))
app.get('/chat.css', (_, response) => response.type('css').send(style))

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Chat</title>
<link rel="stylesheet" href="chat.css">
<main id="log" role="log"></main>
<form id="form"><input id="question" aria-label="Message" autocomplete="off" autofocus required><button id="button">Send</button></form>
<script type="module" src="chat.js"></script>
</html>`

const style = `body { font: 1rem/1.5 system-ui; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
p { white-space: pre-wrap } .user { font-weight: bold } .error { color: crimson }
form { display: flex; gap: .5rem } input { flex: 1; font: inherit; padding: .5rem } button { font: inherit }`

const script = `
const messages = []
let running

form.onsubmit = async (event) => {
  event.preventDefault()
  if (running) return running.abort()
  const content = question.value
  messages.push({ role: 'user', content })
  show('user', content)
  const answer = show('assistant', '')
  running = new AbortController()
  button.textContent = 'Stop'
  question.value = ''
  question.required = false
  try {
    for await (const piece of answerTo(messages, running.signal)) answer.append(piece)
  } catch (error) {
    if (error.name !== 'AbortError') show('error', error.message)
  }
  // What has arrived of a stopped answer is a part of the conversation, too.
  if (answer.textContent) messages.push({ role: 'assistant', content: answer.textContent })
  else messages.pop()
  running = undefined
  button.textContent = 'Send'
  question.required = true
}

function show(kind, text) {
  const paragraph = document.createElement('p')
  paragraph.className = kind
  paragraph.append(text) // as text: nothing in it becomes HTML
  log.append(paragraph)
  return paragraph
}

/** The pieces of an answer as they arrive. */
async function* answerTo(messages, signal) {
  const response = await fetch('ai/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'assistant', messages, stream: true }),
    signal,
  })
  if (!response.ok) throw new Error((await response.json()).error.message)
  let rest = ''
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\\n')
    rest = lines.pop()
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue
      const data = line.slice('data: '.length).trim()
      if (data === '[DONE]') return
      const { choices, error } = JSON.parse(data)
      if (error) throw new Error(error.message)
      yield choices[0]?.delta.content ?? ''
    }
  }
  throw new Error('The answer has broken off.')
}
`

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  console.log(`Open http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.once('SIGTERM', () => void gateway.close({ graceMs: 5_000 }).then(() => server.close()))
