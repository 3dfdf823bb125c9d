/** Limits and ledger of a call in one script, before it and after it. */
import { Batches } from '../batches.ts'
import type { Hold, JointStore, Ledger, LimitClaim, LimitStore } from '../index.ts'
import { holdVerdict, ledgerText, type ToldHold } from './ledger.ts'
import { limitsText, verdictOf, type ToldVerdict } from './limits.ts'
import { lua, type Scripts } from './scripts.ts'

/** Five words a call, from the fourth on. A call that fails does so alone: its answer is then what went wrong. */
const admit = lua(
  limitsText,
  ledgerText,
  `
local function admit(claim, id, account, want, lease)
  local verdict = check(claim)
  if not verdict.admitted then return { told(verdict) } end
  local held = hold(id, account, amount(want), tonumber(lease))
  if held[1] == 'held' then draw(claim, verdict) end
  return { told(verdict), held }
end
local answers = {}
for i = 4, #ARGV, 5 do
  local done, answer = pcall(function()
    return admit(cjson.decode(ARGV[i]), ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
  end)
  answers[#answers + 1] = done and answer or { type(answer) == 'table' and answer.err or tostring(answer) }
end
return answers
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

/** Batches of admissions under way at once. */
const lanes = 2

interface Admitting {
  readonly claim: LimitClaim
  readonly hold: Hold
}

type Told = readonly [ToldVerdict, ToldHold?] | readonly [failure: string]

export function redisJoint(scripts: Scripts, limits: LimitStore, ledger: Ledger, kept: number): JointStore {
  const admissions = new Batches<Admitting, Told>({
    perform: (calls) =>
      scripts.run<Told[]>(
        admit,
        '',
        kept,
        ...calls.flatMap(({ claim, hold: { id, account, amount, leaseMs } }) => [
          JSON.stringify(claim),
          id,
          account,
          amount,
          leaseMs,
        ]),
      ),
    ids: ({ claim, hold }) => [`claim ${claim.id}`, `hold ${hold.id}`],
    isUndone: () => false,
    lanes,
  })
  return {
    limits,
    ledger,
    async admit(claim, hold) {
      const [verdict, held] = await admissions.add({ claim, hold })
      if (typeof verdict === 'string') throw new Error(verdict)
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
