/**
 * The process under attack, with two gateways: one free of charge, one where every token is paid. Each is served by several
 * hosts. The parent queries the cost of the attacks over IPC.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createGateway, memoryLedger, memoryUsageStore, type Gateway, type GatewayOptions } from 'modelhatch'
import {
  anthropic,
  defineProvider,
  demo,
  finish,
  gemini,
  openai,
  openaiVideo,
  text,
  turnText,
} from 'modelhatch/providers'
import { plainHosts, type Host } from '../adapters/hosts/hosts.ts'
import { referenceMs } from '../cpu-time.ts'
import { longestTurn } from './measured.ts'
import { hostNames, keyOf, type Places } from './places.ts'
import { watchTurns } from './turns.ts'

const { good, hostile, recording, vendorKey: apiKey } = JSON.parse(process.argv[2] as string) as Places
const turns = watchTurns(longestTurn, () => process.send?.({ slow: true }))

/** Repeats the last message, so that a response shows which request it belongs to. */
const echo = defineProvider({
  name: 'echo',
  async *generate({ request }) {
    yield text(turnText(request.turns.at(-1)) || 'Hello')
    yield finish('stop', { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 })
  },
})

/** Streams a long text, word by word. */
const tale = defineProvider({
  name: 'tale',
  async *generate({ signal }) {
    for (let word = 0; word < 2_000 && !signal.aborted; word++) {
      yield text(`word${word} `)
      await pause(5)
    }
    yield finish('stop')
  },
})

/** Reports as many output tokens as it is allowed. */
const writer = defineProvider({
  name: 'writer',
  async *generate({ request }) {
    const tokens = Math.min(request.settings.max ?? 100_000, 100_000)
    yield text('x'.repeat(50))
    yield finish('length', { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 })
  },
})

/** Never responds. */
const silent = defineProvider({
  name: 'silent',
  async *generate({ signal }) {
    process.send?.({ called: 'silent' })
    while (!signal.aborted) await pause(5)
    yield text('late')
  },
})

const vendors = (baseURL: string) => ({
  openai: openai({ baseURL, apiKey }),
  responses: openai({ baseURL, apiKey, responses: true }),
  claude: { provider: anthropic({ baseURL, apiKey }), providerModel: 'claude-sonnet-4-20250514' },
  gemini: { provider: gemini({ baseURL, apiKey }), providerModel: 'gemini-2.5-flash' },
})

const named = (prefix: string, models: object) =>
  Object.fromEntries(Object.entries(models).map(([name, model]) => [`${prefix}${name}`, model as never]))

const demoModel = demo({ paceMs: 0, videoSeconds: 0 })
const tenants = { [keyOf('a')]: { account: 'a' }, [keyOf('b')]: { account: 'b' } }
const common: Partial<GatewayOptions> = { retry: { maxAttempts: 1 } }

const open = createGateway({
  ...common,
  keys: tenants,
  models: {
    demo: demoModel,
    echo,
    ...vendors(good),
    ...named('hostile-', vendors(hostile)),
    routed: openai({ preset: 'openrouter', baseURL: recording, apiKey }),
    recorded: openai({ baseURL: recording, apiKey, responses: true }),
    'recorded-claude': anthropic({ baseURL: recording, apiKey }),
    film: openaiVideo({ baseURL: recording, apiKey }),
  },
})

const ledger = memoryLedger()
const price = { input: '1000', output: '1000' }
const paid = createGateway({
  ...common,
  keys: Object.fromEntries(['rich', 'poor'].map((account) => [keyOf(account), { account }])),
  models: Object.fromEntries(
    Object.entries({ echo, tale, writer, silent }).map(([name, provider]) => [name, { provider, price }]),
  ),
  billing: { currency: 'CNY', defaults: { outputTokens: 100, enforce: true } },
  storage: { ledger, usage: memoryUsageStore() },
  hooks: { receipt: (receipt) => void process.send?.({ receipt }) },
})
await ledger.credit({ account: 'rich', amount: 1_000_000_000_000n, reference: 'rich' })
await ledger.credit({ account: 'poor', amount: 1_000_000n, reference: 'poor' })

async function served(gateway: Gateway): Promise<Record<string, object>> {
  const hosts = hostNames.map((wanted) => plainHosts.find(({ name }) => name === wanted) as Host)
  const running = await Promise.all(hosts.map((host) => host.start(gateway)))
  return Object.fromEntries(running.map(({ name, port, path }) => [name, { port, path }]))
}

process.on(
  'message',
  ({ id, ask, account = '' }: { id: number; ask: 'turns' | 'reference' | 'account'; account?: string }) => {
    void (async () => {
      if (ask === 'turns') return turns()
      if (ask === 'reference') return referenceMs()
      const { balance = 0n, held = 0n } = (await ledger.account(account)) ?? {}
      return { balance: String(balance), held: String(held) }
    })().then((answer) => process.send?.({ id, answer }))
  },
)
process.on('disconnect', () => process.exit())
process.send?.({ ports: { open: await served(open), paid: await served(paid) } })
