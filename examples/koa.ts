/** `npm run start:koa`: a gateway on Koa. `PORT` says where it listens, `MODELHATCH_KEY` which key it lets in. */
import Koa from 'koa'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/koa'
import { key, models } from './models.ts'
import { welcome } from './welcome.ts'

const gateway = createGateway({ keys: { [key]: {} }, models })

const app = new Koa()
app.use(mount(gateway))

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => welcome(server, key, 'demo'))

/** First the calls under way come to an end, then the server. */
async function stop(): Promise<void> {
  await gateway.close({ graceMs: 5_000 })
  server.close()
  // Connections on which nobody asks anything would hold the process for as long as their clients like.
  setTimeout(() => server.closeAllConnections(), 500).unref()
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
