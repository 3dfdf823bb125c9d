/** Limits and ledger in one script: admits requests, and settles and releases those that have ended. */
import { Batches } from '../batches.ts'
import type { Hold, JointStore, Ledger, LimitClaim, LimitStore } from '../index.ts'
import { holdVerdict, ledgerText, type HoldReply } from './ledger.ts'
import { limitsText, verdictOf, type VerdictReply } from './limits.ts'
import { lua, type Scripts } from './scripts.ts'

/** Takes five arguments for each request, from `ARGV[4]` on. An error fails its own request only: its reply is the message. */
const admit = lua(
  limitsText,
  ledgerText,
  `
local function admit(claim, id, account, requested, lease)
  local verdict = check(claim)
  if not verdict.admitted then return { reply_of(verdict) } end
  local held = hold(id, account, amount(requested), tonumber(lease))
  if held[1] == 'held' then draw(claim, verdict) end
  return { reply_of(verdict), held }
end
local replies = {}
for i = 4, #ARGV, 5 do
  local done, reply = pcall(function()
    return admit(cjson.decode(ARGV[i]), ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
  end)
  replies[#replies + 1] = done and reply or { type(reply) == 'table' and reply.err or tostring(reply) }
end
return replies
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

/** Maximum number of batches of admissions in progress at the same time. */
const lanes = 2

interface Admitting {
  readonly claim: LimitClaim
  readonly hold: Hold
}

type AdmitReply = readonly [VerdictReply, HoldReply?] | readonly [failure: string]

export function redisJoint(scripts: Scripts, limits: LimitStore, ledger: Ledger, kept: number): JointStore {
  const admissions = new Batches<Admitting, AdmitReply>({
    perform: (requests) =>
      scripts.run<AdmitReply[]>(
        admit,
        '',
        kept,
        ...requests.flatMap(({ claim, hold: { id, account, amount, leaseMs } }) => [
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
      const ended = endings.map(({ returned, end }) => ({
        returned,
        end: end && { id: end.id, account: end.account, amount: end.amount?.toString() },
      }))
      await scripts.run(finish, JSON.stringify(ended), kept)
    },
  }
}
