/** The rule of the option `billing`. */
import * as z from 'zod'
import { parseMoney } from '../../money/money.ts'
import { scopedCaps } from '../../records/cap-rules.ts'
import { anyFunction, onDisconnect, parsed, strict, timed } from '../../records/rules.ts'
import { countedNames } from '../../wire/units.ts'

const nameCurrency = "must name the currency of all prices and balances, such as 'EUR'"
const counted = Object.fromEntries(countedNames.map((name) => [name, z.number().min(0)]))

export const billingRule: z.ZodObject = strict({
  currency: z.string(nameCurrency).min(1, nameCurrency),
  ...strict({
    unpriced: z.enum(['refuse', 'free']),
    showPrices: z.boolean(),
    minimumTopUp: parsed(parseMoney),
    onDisconnect,
    chargeFailed: z.boolean(),
    maxDrains: z.int().min(0),
    defaults: strict({
      outputTokens: z.int().min(0),
      enforce: z.boolean(),
      seconds: z.number().min(0),
      ...counted,
      toolCalls: z.int().min(0),
    }).partial(),
    leaseMs: timed,
    journalMs: z.number().min(0).max(10_000),
    durability: z.enum(['full', 'relaxed']),
    caps: scopedCaps,
    bounds: strict({
      imageTokens: z.int().min(0),
      audioTokens: z.int().min(0),
      fileTokens: z.int().min(0),
      seconds: z.number().min(0),
      ...counted,
      toolCalls: z.int().min(0),
    }).partial(),
    lowBalance: z.array(parsed(parseMoney)).max(10),
    export: strict({
      send: anyFunction,
      since: z.number().min(0),
      name: z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"'),
      timeoutMs: timed,
    }).partial({ name: true, timeoutMs: true }),
  }).partial().shape,
})
