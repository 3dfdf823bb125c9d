/**
 * Pages for accounts, top-ups, keys and usage, next to the gateway. Who may see which account is up to your login; here a
 * header names the account.
 *
 *     curl -X POST http://127.0.0.1:3000/my/top-ups -H 'x-account: acme' -d amount=10 -d order=1
 *     curl -X POST http://127.0.0.1:3000/my/keys -H 'x-account: acme' -d name=laptop
 */
import express from 'express'
import { createGateway, GatewayError } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { demo } from 'modelhatch/providers'

const gateway = createGateway({
  // In memory. Add `storage: postgres(pool)` to keep accounts, keys and usage.
  models: { demo: { provider: demo(), price: { input: '2', output: '8' } } },
  groups: { starter: { models: ['demo'], rate: { requests: '60/min', tokens: '100000/min', concurrent: 4 } } },
  billing: { currency: 'CNY', minimumTopUp: '1' },
})
const { accounts, keys, usage } = gateway.admin

const my = express.Router()
my.use(express.urlencoded())
my.get('/balance', async (request, response) =>
  response.json((await accounts.find(accountOf(request))) ?? { balance: '0' }),
)
my.post('/top-ups', async (request, response) => {
  // In production your payment service calls this, with the amount of the order.
  const { amount, order } = request.body
  response.json(await accounts.topUp({ account: accountOf(request), amount, reference: `order-${order}` }))
})
my.get('/keys', async (request, response) => response.json(await keys.list(accountOf(request))))
my.post('/keys', async (request, response) => {
  const account = accountOf(request)
  response.json(await keys.create({ account, open: true, group: 'starter', name: request.body.name }))
})
my.delete('/keys/:id', async (request, response) =>
  response.json(await keys.revoke(accountOf(request), request.params.id)),
)
my.get('/usage', async (request, response) => {
  response.json(await usage.statistics({ account: accountOf(request), by: ['day', 'model'] }))
})
my.use((error: unknown, _: express.Request, response: express.Response, next: express.NextFunction) => {
  if (!GatewayError.is(error)) return next(error)
  response.status(error.status).json(error)
})

function accountOf(request: express.Request): string {
  const account = request.get('x-account')
  if (account === undefined) throw new GatewayError('invalid_api_key', { message: 'Log in first.' })
  return account
}

const app = express().use('/my', my).use('/ai', mount(gateway))
const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  const { port } = server.address() as { port: number }
  console.log(`Pages at http://127.0.0.1:${port}/my, the service at http://127.0.0.1:${port}/ai/v1`)
})
process.once('SIGTERM', () => void gateway.close({ graceMs: 5_000 }).then(() => server.close()))
