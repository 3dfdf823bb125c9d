/**
 * A vendor of one's own: one async generator. The gateway makes JSON or events of what it yields, names and counts it,
 * tells it over `signal` when the client has gone, and tries again or elsewhere when it throws before its first word.
 *
 *     npm run example examples/custom-provider.ts
 */
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { defineProvider, finish, text, retrySame } from 'modelhatch/providers'
import { welcome } from './welcome.ts'

/** Says what it was told, word by word, and gets tired every third time. */
let calls = 0
const parrot = defineProvider({
  name: 'parrot',
  async *chat({ request, signal }) {
    if (++calls % 3 === 0) throw retrySame(new Error('the parrot is tired'))
    const said = request.messages.at(-1)?.content
    const words = typeof said === 'string' ? said.split(' ') : ['Squawk!']
    for (const word of words) {
      await pause(20, undefined, { signal })
      yield text(`${word} `)
    }
    const count = words.length
    yield finish('stop', { prompt_tokens: count, completion_tokens: count, total_tokens: 2 * count })
  },
})

const gateway = createGateway({ keys: { 'sk-demo': {} }, models: { parrot } })
const server = createServer(mount(gateway))
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => welcome(server, 'sk-demo', 'parrot'))

process.once('SIGTERM', () => void gateway.close().then(() => server.close()))
process.once('SIGINT', () => void gateway.close().then(() => server.close()))
