/** Calls as a gateway admits and ends them, without HTTP and without a vendor. */
import { randomUUID } from 'node:crypto'
import { Observer } from '../../../src/observing/observe.ts'
import type { Admission } from '../../../src/admission/admission.ts'
import { createAdmission } from '../../../src/assembly/admission.ts'
import type { Ticket } from '../../../src/admission/ticket.ts'
import type { Receipt } from '../../../src/billing/receipt.ts'
import { Price } from '../../../src/billing/price.ts'
import type { StorageBundle } from '../../../src/index.ts'
import type { Model } from '../../../src/models/contract.ts'
import { Work } from '../../../src/routing/work.ts'
import { storesOf } from '../../../src/assembly/stores.ts'
import { usageOf } from '../../../src/wire/usage.ts'

const group = 'everyone'
/** Limits that no load reaches, of each kind there is. */
const groups = {
  [group]: { models: '*', rate: { requests: '1000000000/s', tokens: '100000000000/s', concurrent: 100_000 } },
} as const

const model: Model = {
  id: 'model',
  created: 0,
  ownedBy: 'bench',
  price: new Price({ input: '2', output: '8' }),
  deployments: [{ provider: { name: 'vendor' }, model: 'model', order: 0, weight: 1 }],
}
const chat = { lengthFields: ['max_tokens'], makes: 'text' } as const
const order = { promptTokens: 250, field: (name: string) => (name === 'max_tokens' ? 500 : undefined) } as never
const leaseMs = 600_000

export interface Calls {
  /** Accounts with money for any load, named `account 0` and so on. */
  fund(accounts: number): Promise<void>
  /** Admits a call. */
  admit(account: string): Promise<Ticket> | Ticket
  /** Ends it: charged, its slot free, its usage recorded, none of it waited for. */
  end(ticket: Ticket, account: string): void
  /** Resolves when everything that has ended is stored. */
  stored(): Promise<void>
}

export function callsOf(storage: StorageBundle | undefined): Calls {
  const options = {
    models: { model: model as never },
    billing: { currency: 'CNY', leaseMs },
    limits: { leaseMs },
    ...(storage && { storage }),
  }
  const stores = storesOf(options, Date.now)
  const admission = createAdmission(options, stores, groups, new Observer())
  const own = randomUUID()
  let made = 0
  return {
    async fund(accounts) {
      const names = Array.from({ length: accounts }, (_, index) => `account ${index}`)
      const amount = 10n ** 15n
      for (let from = 0; from < accounts; from += 100) {
        const some = names.slice(from, from + 100)
        await Promise.all(some.map(async (account) => stores.ledger?.credit({ account, amount, reference: account })))
      }
    },
    admit(account) {
      const entry = admission.enter(`req_${own}_${made++}`, { account, group, key: `key of ${account}` })
      if (entry === undefined) throw new Error('limits and prices are to be measured')
      return entry.admit(chat, order, model)
    },
    end(ticket, account) {
      ticket.close(receiptOf(ticket, account), new Work())
    },
    stored: () => storedBy(admission),
  }
}

async function storedBy({ endings, records }: Admission): Promise<void> {
  await Promise.all([endings.returned(60_000), records?.idle(60_000)])
}

function receiptOf({ demand }: Ticket, account: string): Receipt {
  return {
    id: demand.hold?.id ?? '',
    endpoint: 'chat.completions',
    outcome: 'completed',
    account,
    group,
    key: `key of ${account}`,
    model: 'model',
    provider: 'vendor',
    providerModel: 'model',
    attempts: 1,
    stream: true,
    usage: usageOf(240, 180),
    usageSource: 'reported',
    startedAt: Date.now(),
    firstByteMs: 210,
    totalMs: 1_800,
  }
}
