/**
 * Selling a vendor's models: sign-up, prices with a margin, prepaid balances, a cap for each month, mails before the money
 * runs out, reports and invoices as CSV. Who may see which account is up to your login; here a header names the account.
 *
 *     npm run example examples/charging.ts
 *
 *     curl -X POST http://127.0.0.1:3000/sign-up -d email=ada@example.com
 *     curl http://127.0.0.1:3000/my/usage.csv -H 'x-account: …'
 */
import { randomBytes } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import express from 'express'
import { createGateway, GatewayError, type Alert } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { prices } from 'modelhatch/prices'
import { demo, openai } from 'modelhatch/providers'

const apiKey = process.env['OPENAI_API_KEY']
const operatorToken = process.env['OPERATOR_TOKEN'] ?? randomBytes(24).toString('base64url')
/** Where days and months begin. */
const timeZone = 'Europe/Berlin'

const gateway = createGateway({
  // In memory. Add `storage: postgres(pool)` to keep accounts, keys, books and usage.
  models: { 'openai/*': apiKey === undefined ? demo({ name: 'openai' }) : openai({ apiKey }) },
  // The vendor's prices in dollars, converted, and 30 percent on top.
  prices: prices({ currency: 'EUR', rate: '0.92', margin: '1.3' }),
  groups: {
    customers: {
      models: ['openai/gpt-5-mini', 'openai/gpt-5-nano'],
      rate: { requests: '60/min', concurrent: 4 },
      caps: [{ name: 'monthly', period: 'month', timeZone, money: '20', thresholds: [80, 100] }],
    },
  },
  billing: { currency: 'EUR', minimumTopUp: '5', lowBalance: ['1'] },
  usage: { lines: true, keepMs: 400 * 86_400_000 },
  hooks: { alert: (alert) => mail(alert.account, textOf(alert)) },
})
const { accounts, caps, csv, keys, usage } = gateway.admin

/** Replace it with your mail service. An alert comes at least once; `alert.id` tells a repetition. */
async function mail(account: string, text: string): Promise<void> {
  const owner = await accounts.find(account)
  console.log(`Mail to ${owner?.name}: ${text}`)
}

function textOf(alert: Alert): string {
  if (alert.type === 'balance.low') return `your balance is ${alert.balance} EUR. Top up soon.`
  return `you have used ${alert.used} of ${alert.limit} EUR this month (${alert.percent} %).`
}

const app = express().use(express.urlencoded())

app.post('/sign-up', async (request, response) => {
  const account = `acc_${randomBytes(9).toString('base64url')}`
  await accounts.open({ id: account, name: String(request.body.email) })
  // A small credit to begin with. `adjust` has no minimum.
  await accounts.adjust({ account, amount: '1', reference: `welcome:${account}`, note: 'Welcome' })
  const { key } = await keys.create({ account, group: 'customers', name: 'first key' })
  response.json({ account, key })
})

const my = express.Router()
my.get('/balance', async (request, response) => response.json(await accounts.find(accountOf(request))))
my.get('/cap', async (request, response) =>
  response.json(await caps.list({ account: accountOf(request), group: 'customers' })),
)
my.post('/cap', async (request, response) => {
  // Customers may lower their cap, and raise it again up to yours.
  const money = String(request.body.amount)
  if (!(Number(money) <= 20)) throw new GatewayError('invalid_request_error', { message: 'At most 20 EUR a month.' })
  const account = accountOf(request)
  response.json(await caps.override({ account, group: 'customers', cap: 'monthly', limits: { money } }))
})
my.post('/top-ups', async (request, response) => {
  // In production your payment service calls this, with the amount of the order.
  const { amount, order } = request.body
  response.json(await accounts.topUp({ account: accountOf(request), amount, reference: `order:${order}` }))
})
my.get('/days', async (request, response) => {
  response.json(await usage.statistics({ account: accountOf(request), by: ['day', 'model'], timeZone }))
})
my.get('/usage.csv', (request, response) => send(response, csv.usage({ account: accountOf(request) })))
my.get('/entries.csv', (request, response) => send(response, csv.entries(accountOf(request))))

const operator = express.Router()
operator.use((request, _, next) => {
  if (request.get('authorization') !== `Bearer ${operatorToken}`) throw new GatewayError('not_found')
  next()
})
operator.get('/accounts.csv', (_, response) => send(response, csv.accounts()))
operator.get('/invoices/:month.csv', (request, response) =>
  send(response, csv.invoice({ all: true, month: request.params.month, timeZone })),
)
operator.post('/refunds', async (request, response) => {
  const { account, request: id, reason } = request.body
  response.json(await accounts.refund({ account, request: id, reason }))
})
operator.get('/audit', async (_, response) => response.json((await accounts.audit()).faults))

app.use('/my', my).use('/operator', operator).use('/ai', mount(gateway))
app.use((error: unknown, _: express.Request, response: express.Response, next: express.NextFunction) => {
  if (!GatewayError.is(error) || response.headersSent) return next(error)
  response.status(error.status).json(error)
})

function accountOf(request: express.Request): string {
  const account = request.get('x-account')
  if (account === undefined) throw new GatewayError('invalid_api_key', { message: 'Log in first.' })
  return account
}

async function send(response: express.Response, pieces: AsyncGenerator<string, void>): Promise<void> {
  // An invalid question fails here, while it can still become an error response.
  const first = await pieces.next()
  response.type('text/csv')
  await pipeline(async function* () {
    yield first.value ?? ''
    yield* pieces
  }, response)
}

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  const { port } = server.address() as { port: number }
  console.log(`Sign up at http://127.0.0.1:${port}/sign-up; the service is at /ai/v1`)
  console.log(`The operator's pages are at /operator, with the token ${operatorToken}`)
})
process.once('SIGTERM', () => void gateway.close({ graceMs: 5_000 }).then(() => server.close()))
