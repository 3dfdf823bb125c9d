/**
 * A provider of your own: one async generator, which serves chats, responses and messages. The gateway turns its parts into
 * JSON or events, fills in ids and names, aborts `signal` when the client disconnects, and retries if the generator throws
 * before its first part.
 *
 *     npm run example examples/custom-provider.ts
 */
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { defineProvider, finish, retrySame, text, turnText } from 'modelhatch/providers'
import { welcome } from './welcome.ts'

/** Repeats the last message word by word. Every third attempt fails, to show a retry. */
let calls = 0
const parrot = defineProvider({
  name: 'parrot',
  async *generate({ request, signal }) {
    if (++calls % 3 === 0) throw retrySame(new Error('the parrot is tired'))
    const words = turnText(request.turns.at(-1)).split(' ')
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
