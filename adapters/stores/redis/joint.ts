/** Limits and ledger of a call in one script, before it and after it. */
import type { JointStore, Ledger, LimitStore } from '../index.ts'
import { holdVerdict, ledgerText, type ToldHold } from './ledger.ts'
import { limitsText, verdictOf, type ToldVerdict } from './limits.ts'
import { lua, type Scripts } from './scripts.ts'

const admit = lua(
  limitsText,
  ledgerText,
  `
local claim = cjson.decode(ARGV[2])
local verdict = check(claim)
if not verdict.admitted then return { told(verdict) } end
local held = hold(ARGV[4], ARGV[5], amount(ARGV[6]), tonumber(ARGV[7]))
if held[1] == 'held' then draw(claim, verdict) end
return { told(verdict), held }
`,
)

const finish = lua(
  limitsText,
  ledgerText,
  `
for _, ending in ipairs(cjson.decode(ARGV[2])) do
  if ending.returned then give(ending.returned) end
  if ending['end'] then end_hold(ending['end'].id, ending['end'].account, ending['end'].amount and amount(ending['end'].amount) or nil) end
end
`,
)

export function redisJoint(scripts: Scripts, limits: LimitStore, ledger: Ledger, kept: number): JointStore {
  return {
    limits,
    ledger,
    async admit(claim, { id, account, amount, leaseMs }) {
      const words = [JSON.stringify(claim), kept, id, account, amount, leaseMs]
      const [verdict, held] = await scripts.run<[ToldVerdict, ToldHold?]>(admit, ...words)
      return { limits: verdictOf(verdict), ...(held && { hold: holdVerdict(held) }) }
    },
    async finish(endings) {
      const told = endings.map(({ returned, end }) => ({
        returned,
        end: end && { id: end.id, account: end.account, amount: end.amount?.toString() },
      }))
      await scripts.run(finish, JSON.stringify(told), kept)
    },
  }
}
