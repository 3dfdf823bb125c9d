/** Admits and settles calls as a gateway does, without HTTP and without a vendor. */
import { randomUUID } from 'node:crypto'
import { Observer } from '../../../src/observe/observe.ts'
import type { Admission } from '../../../src/admission/admission.ts'
import { createAdmission } from '../../../src/gateway/assembly/admission.ts'
import type { Ticket } from '../../../src/admission/ticket.ts'
import type { Receipt } from '../../../src/money/receipt.ts'
import { Price } from '../../../src/money/prices/price.ts'
import type { StorageBundle } from '../../../src/index.ts'
import type { Groups } from '../../../src/models/group-fields.ts'
import type { Model } from '../../../src/models/contract.ts'
import { Work } from '../../../src/providers/work.ts'
import { storesOf } from '../../../src/gateway/assembly/stores.ts'
import { usageOf } from '../../../src/wire/usage.ts'

const group = 'everyone'
/** One limit of each kind, too high for any load to reach. */
const groupsOf = (caps: number): Groups => ({
  [group]: {
    models: '*',
    rate: { requests: '1000000000/s', tokens: '100000000000/s', concurrent: 100_000 },
    caps: Array.from({ length: caps }, (_, index) => ({
      name: `cap-${index}`,
      period: 'month',
      money: '1000000',
    })),
  },
})

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
  /** Creates accounts named `account 0`, `account 1` and so on, with enough money for any load. */
  fund(accounts: number): Promise<void>
  /** Resolves once the charges of ended calls are not too many for another call. */
  room(): Promise<void> | undefined
  /** Admits a call. */
  admit(account: string): Promise<Ticket> | Ticket
  /** Ends a call in the background: charges it, frees its slot and records its usage. */
  end(ticket: Ticket, account: string): void
  /** Resolves when the charges and usage of all ended calls are stored, or after a minute. */
  stored(): Promise<void>
}

export function callsOf(storage: StorageBundle | undefined, caps: number = 0, journalMs?: number): Calls {
  const options = {
    models: { model: model as never },
    billing: { currency: 'CNY', leaseMs, ...(journalMs !== undefined && { journalMs }) },
    limits: { leaseMs },
    ...(storage && { storage }),
  }
  const stores = storesOf(options, Date.now)
  const admission = createAdmission(options, stores, groupsOf(caps), new Observer())
  const runId = randomUUID()
  let made = 0
  return {
    async fund(accounts) {
      const names = Array.from({ length: accounts }, (_, index) => `account ${index}`)
      const amount = 10n ** 15n
      for (let from = 0; from < accounts; from += 100) {
        const batch = names.slice(from, from + 100)
        await Promise.all(batch.map(async (account) => stores.ledger?.credit({ account, amount, reference: account })))
      }
    },
    room: () => (admission.settlements.overflowing ? admission.settlements.returned(60_000) : undefined),
    admit(account) {
      const entry = admission.enter(`req_${runId}_${made++}`, { account, group, key: `key of ${account}` })
      if (entry === undefined) throw new Error('the call has neither limits nor a price')
      return entry.admit(chat, order, model)
    },
    end(ticket, account) {
      ticket.close(receiptOf(ticket, account), new Work())
    },
    stored: () => storedBy(admission),
  }
}

async function storedBy({ settlements, records }: Admission): Promise<void> {
  await Promise.all([settlements.returned(60_000), records?.idle(60_000)])
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
