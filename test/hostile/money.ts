/** Clients that spend more than their balance, and clients that disconnect to avoid the charge. */
import type { Receipt } from 'modelhatch'
import { send, type Attack } from './asking.ts'
import type { Attacked } from './attacked.ts'
import { hostNames, type HostName } from './places.ts'

const messages = [{ role: 'user', content: 'Tell me a long tale about the sea.' }]
const body = (fields: object) => JSON.stringify(fields)

/** Requests that try to get more than is held, through every length field that an endpoint may pass on. */
const attempts: readonly Pick<Attack, 'path' | 'body'>[] = [
  { path: '/v1/chat/completions', body: body({ model: 'writer', messages }) },
  { path: '/v1/chat/completions', body: body({ model: 'writer', messages, max_tokens: 20 }) },
  { path: '/v1/completions', body: body({ model: 'writer', prompt: 'x' }) },
  { path: '/v1/completions', body: body({ model: 'writer', prompt: 'x', max_completion_tokens: 1_000_000 }) },
  { path: '/v1/completions', body: body({ model: 'writer', prompt: 'x', stream: true, max_output_tokens: 1_000_000 }) },
  { path: '/v1/responses', body: body({ model: 'writer', input: 'x' }) },
  { path: '/v1/responses', body: body({ model: 'writer', input: 'x', max_tokens: 1_000_000 }) },
]

/** Sends the requests and returns the money spent, in micro-units. */
export async function spend(attacked: Attacked, spenders: number): Promise<{ spent: bigint; calls: number }> {
  const before = await attacked.account('poor')
  const first = attacked.receipts.length
  const statuses = await Promise.all(
    Array.from({ length: spenders }, async (_, index) => {
      const attempt = attempts[index % attempts.length] as (typeof attempts)[number]
      const host = hostNames[index % 2] as HostName
      const sending = send(attacked, { ...attempt, gate: 'paid', host, account: 'poor' })
      const answer = await attacked.within(
        `a spender of ${attempt.path}`,
        sending.catch(() => undefined),
      )
      if (answer !== undefined && answer.status >= 500) attacked.faults.push(`a spender got ${answer.text}`)
      return answer?.status
    }),
  )
  const answered = statuses.filter((status) => status === 200).length
  const receipts = await receiptsFrom(attacked, first, answered, ({ account }) => account === 'poor')
  const spent = receipts.reduce((sum, receipt) => sum + microOf(receipt.charge?.cost), 0n)
  const after = await settled(attacked, 'poor')
  if (after.balance < 0n) attacked.faults.push(`the balance is ${after.balance}`)
  if (before.balance - after.balance !== spent)
    attacked.faults.push(`${spent} of ${before.balance - after.balance} has a receipt`)
  for (const { endpoint, charge } of receipts) {
    if (charge !== undefined && microOf(charge.overage) > 0n)
      attacked.faults.push(`${endpoint}: ${charge.overage} more than was held`)
  }
  return { spent, calls: answered }
}

interface Disconnect {
  readonly name: string
  readonly model: string
  /** Words that the client has received when it disconnects. */
  readonly words: number
}

const disconnects: readonly Disconnect[] = [
  { name: 'after a word', model: 'tale', words: 1 },
  { name: 'after twenty words', model: 'tale', words: 20 },
]

/** Minimum micro-units per word, which is at least one token. */
const perWord = 1_000n

/** Clients that disconnect in the middle of a stream. Returns their number. */
export async function disconnectMidway(attacked: Attacked): Promise<number> {
  let count = 0
  for (const host of hostNames) {
    for (const { name, model, words } of disconnects) {
      const first = attacked.receipts.length
      const disconnectAt = (text: string) => text.includes(`word${words - 1} `)
      const attack: Attack = {
        gate: 'paid',
        host,
        account: 'rich',
        path: '/v1/chat/completions',
        body: body({ model, messages, stream: true }),
        disconnectAt,
      }
      await attacked.within(`a client of ${host} that disconnects ${name}`, send(attacked, attack))
      const [receipt] = await receiptsFrom(attacked, first, 1, ({ account }) => account === 'rich')
      count++
      const cost = microOf(receipt?.charge?.cost)
      if (receipt?.outcome !== 'cancelled' || cost < BigInt(words) * perWord) {
        attacked.faults.push(
          `a client of ${host} disconnected ${name}, paid ${cost}, ${receipt?.outcome ?? 'no receipt'}`,
        )
      }
    }
  }
  return count
}

/** Clients that disconnect before the first content, after the vendor has received the request. */
export async function disconnectEarly(attacked: Attacked): Promise<void> {
  for (const host of hostNames) {
    const first = attacked.receipts.length
    const { port, path } = attacked.ports.paid[host]
    const client = new AbortController()
    const response = fetch(`http://127.0.0.1:${port}${path}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-canary-rich', 'content-type': 'application/json' },
      body: body({ model: 'silent', messages: [{ role: 'user', content: 'sea '.repeat(10_000) }], stream: true }),
      signal: client.signal,
    }).catch(() => undefined)
    await attacked.modelCalled('silent')
    client.abort()
    await response
    const [receipt] = await receiptsFrom(attacked, first, 1, ({ account }) => account === 'rich')
    const cost = microOf(receipt?.charge?.cost)
    if (cost < 5_000n * 1_000n)
      attacked.faults.push(`a client of ${host} disconnected before the first content and paid ${cost}`)
  }
}

async function receiptsFrom(attacked: Attacked, first: number, count: number, of: (receipt: Receipt) => boolean) {
  const end = performance.now() + 20_000
  for (;;) {
    const receipts = attacked.receipts.slice(first).filter(of)
    if (receipts.length >= count || performance.now() > end) return receipts
    await attacked.nextReceipt()
  }
}

/** The account, after all its holds have ended. */
async function settled(attacked: Attacked, name: string): Promise<{ balance: bigint; held: bigint }> {
  for (let tries = 0; ; tries++) {
    const account = await attacked.account(name)
    if (account.held === 0n || tries === 100) return account
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function microOf(amount = '0'): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(6, '0').slice(0, 6))
}
