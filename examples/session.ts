/**
 * Callers without API keys: the users of your own site, known by their session cookie.
 *
 *     npm run example examples/session.ts
 *
 *     curl -c cookies -d name=ada http://127.0.0.1:3000/login
 *     curl -b cookies http://127.0.0.1:3000/ai/v1/models
 */
import express from 'express'
import session from 'express-session'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { demo } from 'modelhatch/providers'

declare module 'express-session' {
  interface SessionData {
    user: { readonly id: string; readonly plan: 'free' | 'pro' }
  }
}

const gateway = createGateway({
  models: { demo: demo(), 'demo-large': demo() },
  groups: {
    free: { models: ['demo'], rate: { requests: '20/min', concurrent: 2 } },
    pro: { models: '*' },
  },
  // `host` is Express's request, with everything that middleware before the gateway has added.
  authenticate({ host }) {
    const { user } = (host as express.Request).session
    // Without a user the gateway checks the API key, and rejects the request if there is none.
    return user && { account: user.id, group: user.plan }
  },
})

const app = express()
app.use(
  session({
    secret: process.env['SESSION_SECRET'] ?? 'change me',
    resave: false,
    saveUninitialized: false,
    // Other sites must not be able to send requests with the user's cookie. Set `secure: true` behind HTTPS.
    cookie: { httpOnly: true, sameSite: 'strict' },
  }),
)
app.post('/login', express.urlencoded(), (request, response, next) => {
  // Check a password here.
  const id = String((request.body as { name?: string }).name)
  // A new session id, so that an id planted before the login is worth nothing.
  request.session.regenerate((error) => {
    if (error) return next(error)
    request.session.user = { id, plan: id === 'ada' ? 'pro' : 'free' }
    response.redirect('/')
  })
})
app.post('/logout', (request, response) => request.session.destroy(() => response.redirect('/')))
app.use('/ai', mount(gateway))
app.get('/', (request, response) => {
  response.type('html').send(request.session.user ? chatPage : loginPage)
})

const loginPage = '<form method=post action=/login><input name=name placeholder=Name><button>Log in</button></form>'
const chatPage = `<form id=ask><input name=question placeholder=Ask><button>Send</button></form><pre id=text></pre><script>
ask.onsubmit = async (event) => {
  event.preventDefault()
  const messages = [{ role: 'user', content: ask.question.value }]
  const response = await fetch('/ai/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages }),
  })
  const { choices, error } = await response.json()
  text.textContent = error ? error.message : choices[0].message.content
}
</script>`

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  const { port } = server.address() as { port: number }
  console.log(`Open http://127.0.0.1:${port}`)
})
process.once('SIGTERM', () => void gateway.close({ graceMs: 5_000 }).then(() => server.close()))
