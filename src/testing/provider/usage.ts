/** Whether what a vendor reports can be charged as the vendor charges it: each part once, at its own price. */
import assert from 'node:assert/strict'
import { Price } from '../../index.ts'
import type { ReportedUsage, ScriptedUsage } from '../dialects/dialect.ts'
import type { Kit, Register } from './kit.ts'

/** Every part has a price, so that every part is a line. */
const price = new Price({
  input: '1',
  cached: '1',
  cacheWrite: '1',
  cacheWrite1h: '1',
  inputAudio: '1',
  cachedAudio: '1',
  inputImage: '1',
  output: '1',
  reasoning: '1',
  outputImage: '1',
  tools: { '*': '1' },
})

interface Case {
  readonly name: string
  /** What the dialect must be able to report. */
  readonly needs: readonly ReportedUsage[]
  readonly usage: ScriptedUsage
  /** The quantity of each line. */
  readonly charged: Readonly<Record<string, number>>
}

const plain = { input: 1_000, cached: 400, output: 30, reasoning: 20 }
const plainCharged = { input: 600, cached: 400, output: 10, reasoning: 20 }

const cases: readonly Case[] = [
  {
    name: 'each token is charged once, cached and reasoning tokens apart',
    needs: [],
    usage: plain,
    charged: plainCharged,
  },
  {
    name: 'tokens written to a cache are charged apart',
    needs: ['written'],
    usage: { ...plain, written: 300 },
    charged: { ...plainCharged, input: 300, cacheWrite: 300 },
  },
  {
    name: 'tokens written to a cache for one hour are charged apart from those written for five minutes',
    needs: ['written', 'written1h'],
    usage: { ...plain, written: 300, written1h: 100 },
    charged: { ...plainCharged, input: 300, cacheWrite: 200, cacheWrite1h: 100 },
  },
  {
    name: 'audio tokens are charged apart',
    needs: ['audio'],
    usage: { ...plain, cached: 0, audio: 250 },
    charged: { ...plainCharged, cached: 0, input: 750, inputAudio: 250 },
  },
  {
    name: 'cached audio tokens are charged apart',
    needs: ['audio', 'cachedAudio'],
    usage: { ...plain, audio: 250, cachedAudio: 150 },
    charged: { ...plainCharged, input: 500, cached: 250, inputAudio: 100, cachedAudio: 150 },
  },
  {
    name: 'image tokens are charged apart',
    needs: ['images', 'outputImages'],
    usage: { ...plain, images: 70, outputImages: 4 },
    charged: { ...plainCharged, input: 530, inputImage: 70, output: 6, outputImage: 4 },
  },
  {
    name: 'searches of the vendor are charged by the call',
    needs: ['searches'],
    usage: { ...plain, searches: 2 },
    charged: { ...plainCharged, 'tools.web_search': 2 },
  },
]

/** Registers the tests of what the dialect reports. */
export function checkUsage(check: Register, reports: readonly ReportedUsage[]): void {
  for (const { name, needs, usage, charged } of cases) {
    if (!needs.every((part) => reports.includes(part))) continue
    check.both(name, async (kit, stream) => {
      const { usage: counted } = await receiptOf(kit, usage, stream)
      const quantities = price.lines({ usage: counted }).lines.map(({ item, quantity }) => [item, quantity] as const)
      assert.deepEqual(
        Object.fromEntries(quantities),
        Object.fromEntries(Object.entries(charged).filter(([, quantity]) => quantity > 0)),
      )
    })
  }
  if (!reports.includes('serviceTier')) return
  check.both('the service tier that the vendor applied is reported', async (kit, stream) => {
    const special = await receiptOf(kit, { ...plain, serviceTier: 'priority' }, stream)
    assert.equal(special.serviceTier, 'priority')
    const normal = await receiptOf(kit, plain, stream)
    assert.notEqual(normal.serviceTier, 'priority')
  })
}

async function receiptOf(kit: Kit, usage: ScriptedUsage, stream: boolean) {
  await kit.ask({ text: 'Yes.', usage }, stream)
  return kit.receipt
}
