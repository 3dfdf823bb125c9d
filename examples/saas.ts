/**
 * A service that people sign up for: prepaid credit through a checkout, and the console, where they make keys and see what they use.
 *
 *     npm run example examples/saas.ts
 *
 * The payment service is a part of this file, moves no money, and signs its webhooks as Stripe does.
 */
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import express from 'express'
import session from 'express-session'
import { createGateway, GatewayError } from 'modelhatch'
import { createConsole } from 'modelhatch/console'
import { mount } from 'modelhatch/express'
import { demo } from 'modelhatch/providers'

declare module 'express-session' {
  interface SessionData {
    account: string
  }
}

const random = () => randomBytes(24).toString('base64url')
const { SESSION_SECRET = random(), WEBHOOK_SECRET = random(), PUBLIC_HOST = '127.0.0.1' } = process.env

const gateway = createGateway({
  // In memory. Add `storage: postgres(pool)` to keep accounts, keys, books and usage.
  models: { demo: { provider: demo(), price: { input: '2', output: '8' } } },
  groups: { customers: { models: ['demo'], rate: { requests: '60/min', concurrent: 4 } } },
  billing: { currency: 'EUR' },
  usage: { record: true },
})
const { accounts } = gateway.admin

/** In your database: the customers by e-mail address. */
const customers = new Map<string, { readonly account: string; readonly salt: string; readonly digest: Buffer }>()
const digestOf = promisify(scrypt) as (password: string, salt: string, bytes: number) => Promise<Buffer>

const app = express()
// API keys alone count here: without `authenticate`, the gateway does not look at the session.
app.use('/ai', mount(gateway))

// The signature covers the exact bytes, so the body must not be parsed before. With Stripe, `stripe.webhooks.constructEvent` verifies.
app.post('/webhooks/payments', express.text({ type: 'application/json' }), async (request, response) => {
  if (!isSigned(String(request.body), request.get('payment-signature') ?? '')) throw new GatewayError('forbidden')
  const { type, data } = JSON.parse(request.body as string) as PaymentEvent
  // Delivery is at-least-once: the same checkout is credited once.
  if (type === 'checkout.completed') {
    await accounts.topUp({ account: data.account, amount: data.amount, reference: `checkout:${data.id}` })
  }
  response.sendStatus(204)
})

/** Whether a body has our signature, `t=<seconds>,v1=<hex>`, of the last five minutes. */
function isSigned(body: string, signature: string): boolean {
  const [, time = '', given = ''] = /^t=(\d+),v1=([\da-f]{64})$/.exec(signature) ?? []
  const isRecent = Math.abs(Date.now() / 1000 - Number(time)) < 300
  return isRecent && timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(signatureOf(time, body), 'hex'))
}

app.use(
  session({
    secret: SESSION_SECRET,
    resave: false,
    saveUninitialized: false,
    // `lax`: who comes back from a payment service at another address is still logged in. Behind HTTPS, `auto` is secure.
    cookie: { httpOnly: true, sameSite: 'lax', secure: 'auto', maxAge: 7 * 86_400_000 },
  }),
)
app.use(
  '/console',
  mount(
    createConsole(gateway, {
      authorize({ host }) {
        const { account } = (host as express.Request).session
        return account === undefined ? undefined : { role: 'account', account, groups: ['customers'] }
      },
      hosts: [PUBLIC_HOST],
      signIn: '/',
      gatewayUrl: '/ai',
    }),
  ),
)
app.use((request, response, next) => {
  // For a payment service at another address, add it to `form-action`: the form of the checkout leads there.
  response.set(
    'content-security-policy',
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  // No page of another site may send a form with the session of a customer. Browsers set the header on HTTPS and loopback.
  const isOwn = request.method !== 'POST' || request.get('sec-fetch-site') === 'same-origin'
  next(isOwn ? undefined : new GatewayError('forbidden'))
})
app.use(express.urlencoded({ extended: false, limit: '10kb' }))

app.post(['/sign-up', '/log-in'], async (request, response) => {
  // In production, confirm the address by a mail, and limit the attempts.
  const { email, password } = request.body as Record<string, unknown>
  if (typeof email !== 'string' || !/^\S+@\S+$/.test(email)) throw refusal('Enter an e-mail address.')
  if (typeof password !== 'string' || password.length < 12) throw refusal('A password has at least 12 characters.')
  const known = customers.get(email)
  const salt = known?.salt ?? random()
  const digest = await digestOf(password, salt, 32)
  let account = known !== undefined && timingSafeEqual(known.digest, digest) ? known.account : undefined
  if (request.path === '/sign-up' && !customers.has(email)) {
    account = `acc_${random()}`
    customers.set(email, { account, salt, digest })
    await accounts.open({ id: account, name: email })
  }
  if (account === undefined) throw refusal('This address and this password do not belong together.')
  // A new session id, so that an id planted before is worth nothing.
  await promisify(request.session.regenerate.bind(request.session))()
  request.session.account = account
  response.redirect(303, '/')
})
app.post('/log-out', (request, response) => request.session.destroy(() => response.redirect(303, '/')))
app.post('/checkout', (request, response) => {
  const { account } = request.session
  const { amount } = request.body as { amount?: string }
  if (account === undefined) throw new GatewayError('invalid_api_key', { message: 'Log in first.' })
  if (amount !== '10' && amount !== '50') throw refusal('Choose 10 or 50 EUR.')
  response.redirect(303, createCheckout({ account, amount }))
})
app.get('/', async (request, response) => {
  const found = request.session.account && (await accounts.find(request.session.account))
  response.set('cache-control', 'no-store').send(found ? accountPage(found.balance) : signUpPage)
})

const refusal = (message: string) => new GatewayError('invalid_request_error', { message })
const page = (content: string) =>
  `<!doctype html><html lang=en><meta charset=utf-8><title>Models</title>${content}</html>`
const fields =
  '<label>E-mail <input name=email type=email required></label> <label>Password <input name=password type=password minlength=12 required></label>'
const signUpPage = page(
  `<h1>Models</h1><form method=post>${fields} <button formaction=/sign-up>Sign up</button> <button formaction=/log-in>Log in</button></form>`,
)
const accountPage = (balance: string) =>
  page(`<h1>Your balance: ${balance} EUR</h1><form method=post action=/checkout><label>Amount <select name=amount><option>10<option>50</select></label>
<button>Buy credit</button></form><p><a href=/console/>Keys and usage</a><form method=post action=/log-out><button>Log out</button></form>`)

// The payment service: a checkout, its page, and a signed webhook when it is paid.
interface PaymentEvent {
  readonly type: string
  readonly data: { readonly id: string; readonly account: string; readonly amount: string }
}
const checkouts = new Map<string, PaymentEvent['data']>()

function createCheckout(order: { readonly account: string; readonly amount: string }): string {
  const id = random()
  checkouts.set(id, { id, ...order })
  return `/pay/${id}`
}

function signatureOf(time: string, body: string): string {
  return createHmac('sha256', WEBHOOK_SECRET).update(`${time}.${body}`).digest('hex')
}

app.get('/pay/:id', (request, response) => {
  const { amount } = checkouts.get(request.params.id) ?? {}
  if (amount === undefined) throw new GatewayError('not_found')
  response.send(page(`<h1>Pay ${amount} EUR</h1><form method=post><button>Pay</button></form>`))
})
app.post('/pay/:id', async (request, response) => {
  const data = checkouts.get(request.params.id)
  if (data === undefined) throw new GatewayError('not_found')
  const body = JSON.stringify({ type: 'checkout.completed', data })
  const time = String(Math.floor(Date.now() / 1000))
  const headers = { 'content-type': 'application/json', 'payment-signature': `t=${time},v1=${signatureOf(time, body)}` }
  const { ok } = await fetch(`${origin}/webhooks/payments`, { method: 'POST', headers, body })
  if (!ok) throw new GatewayError('service_unavailable')
  response.redirect(303, '/')
})

app.use((error: unknown, _: express.Request, response: express.Response, next: express.NextFunction) => {
  if (!GatewayError.is(error) || response.headersSent) return next(error)
  response.status(error.status).type('text').send(error.message)
})

let origin = ''
const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  console.log(`Sign up at ${origin}`)
})
process.once('SIGTERM', () => void gateway.close({ graceMs: 5_000 }).then(() => server.close()))
