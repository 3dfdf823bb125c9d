/** Those who spend what they do not have, and those who leave without paying. */
import type { Receipt } from 'modelhatch'
import { send, type Attack } from './asking.ts'
import type { Attacked } from './attacked.ts'
import { hostNames, type HostName } from './places.ts'

const messages = [{ role: 'user', content: 'Tell me a long tale about the sea.' }]
const body = (fields: object) => JSON.stringify(fields)

/** Ways to ask for more than is held, through every name of the length field that an endpoint may pass on. */
const wishes: readonly Pick<Attack, 'path' | 'body'>[] = [
  { path: '/v1/chat/completions', body: body({ model: 'writer', messages }) },
  { path: '/v1/chat/completions', body: body({ model: 'writer', messages, max_tokens: 20 }) },
  { path: '/v1/completions', body: body({ model: 'writer', prompt: 'x' }) },
  { path: '/v1/completions', body: body({ model: 'writer', prompt: 'x', max_completion_tokens: 1_000_000 }) },
  { path: '/v1/completions', body: body({ model: 'writer', prompt: 'x', stream: true, max_output_tokens: 1_000_000 }) },
  { path: '/v1/responses', body: body({ model: 'writer', input: 'x' }) },
  { path: '/v1/responses', body: body({ model: 'writer', input: 'x', max_tokens: 1_000_000 }) },
]

/** Everything that was spent, in micro-units. */
export async function spend(attacked: Attacked, spenders: number): Promise<{ spent: bigint; calls: number }> {
  const before = await attacked.account('poor')
  const first = attacked.receipts.length
  const statuses = await Promise.all(
    Array.from({ length: spenders }, async (_, index) => {
      const wish = wishes[index % wishes.length] as (typeof wishes)[number]
      const host = hostNames[index % 2] as HostName
      const sending = send(attacked, { ...wish, gate: 'paid', host, account: 'poor' })
      const answer = await attacked.within(
        `a spender of ${wish.path}`,
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

interface Leaving {
  readonly name: string
  readonly model: string
  /** Words that the client has seen when it leaves. */
  readonly words: number
}

const leavings: readonly Leaving[] = [
  { name: 'after a word', model: 'tale', words: 1 },
  { name: 'after twenty words', model: 'tale', words: 20 },
]

/** Micro-units of a word, which is at least one token. */
const ofWord = 1_000n

export async function leave(attacked: Attacked): Promise<number> {
  let left = 0
  for (const host of hostNames) {
    for (const { name, model, words } of leavings) {
      const first = attacked.receipts.length
      const leaves = (text: string) => text.includes(`word${words - 1} `)
      const asked: Attack = {
        gate: 'paid',
        host,
        account: 'rich',
        path: '/v1/chat/completions',
        body: body({ model, messages, stream: true }),
        leaves,
      }
      await attacked.within(`a client of ${host} that leaves ${name}`, send(attacked, asked))
      const [receipt] = await receiptsFrom(attacked, first, 1, ({ account }) => account === 'rich')
      left++
      const cost = microOf(receipt?.charge?.cost)
      if (receipt?.outcome !== 'cancelled' || cost < BigInt(words) * ofWord) {
        attacked.faults.push(`a client of ${host} that left ${name} paid ${cost}, ${receipt?.outcome ?? 'no receipt'}`)
      }
    }
  }
  return left
}

/** A client that leaves before the first word, when the vendor has the question. */
export async function leaveEarly(attacked: Attacked): Promise<void> {
  for (const host of hostNames) {
    const first = attacked.receipts.length
    const { port, path } = attacked.ports.paid[host]
    const left = new AbortController()
    const asking = fetch(`http://127.0.0.1:${port}${path}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-canary-rich', 'content-type': 'application/json' },
      body: body({ model: 'silent', messages: [{ role: 'user', content: 'sea '.repeat(10_000) }], stream: true }),
      signal: left.signal,
    }).catch(() => undefined)
    await attacked.asked('silent')
    left.abort()
    await asking
    const [receipt] = await receiptsFrom(attacked, first, 1, ({ account }) => account === 'rich')
    const cost = microOf(receipt?.charge?.cost)
    if (cost < 5_000n * 1_000n) attacked.faults.push(`a client of ${host} that left before the first word paid ${cost}`)
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

/** The account when nothing is held of it any more. */
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
