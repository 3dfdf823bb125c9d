/** The script that draws claims and takes holds: each call in full, or not at all. */
import type { CapState, Hold, HoldVerdict, LimitClaim, SliceWish } from '../index.ts'
import { argumentsText, type Arguments } from './call-arguments.ts'
import { ledgerText } from './ledger-text.ts'
import { bucketsText } from './buckets-text.ts'
import { capsText } from './caps-text.ts'
import { capStatesOf, type CapHold } from './cap-arguments.ts'
import { lua } from './scripts.ts'
import { drawingSlice } from './slices-text.ts'

/** A call, or a part of it whose keys are on one node. */
export interface AdmissionPart {
  readonly claim: LimitClaim | undefined
  readonly hold: Hold | undefined
  /** Reads `left` and `free`, and draws nothing. */
  readonly looks?: boolean
  /** What the hold counts for its caps. */
  readonly caps?: CapHold | undefined
  /** Only if all keys of the call are on this node. */
  readonly slice?: SliceWish | undefined
}

export interface AdmittedPart {
  readonly admitted: boolean
  readonly left: readonly number[]
  readonly free: readonly number[]
  /** The places that this call took, and did not hold before. */
  readonly taken: readonly boolean[]
  /** Absent if the limits reject the claim. `again`: so many holds have expired that another call has to go on. */
  readonly hold: Held | undefined
  /** For how many further calls a slice was drawn. */
  readonly ahead: number
}

export interface Held {
  readonly outcome: HoldVerdict['outcome'] | 'again'
  /** Whether this call took it. */
  readonly isNew: boolean
  /** Whether the account is unknown, and is to be opened if the hold fits its caps. */
  readonly opens: boolean
  readonly balance: bigint
  readonly caps?: readonly CapState[]
}

/** Replies with a line for each call: `1` if it is admitted, then for each rate what is left, for each place the free ones and whether one was taken, the outcome of the hold, the balance, the calls of a slice, and the states of caps. */
export const admitText: string = lua(
  argumentsText,
  bucketsText,
  ledgerText,
  capsText,
  `
local function admit(after)
  local looks, id, lease = next_text() == 'look', next_text(), next_number()
  local admitted, count, reply = true, next_number(), { '0' }
  local wanted, costs = {}, {}
  for i = 1, count do
    local rate, cost = rates[next_number()], next_number()
    local left = rate.burst - levels[rate.name]
    if left < cost then admitted = false end
    wanted[i], costs[i], reply[i + 1] = rate, cost, left
  end
  local places_count, taking = next_number(), {}
  for i = 1, places_count do
    local slot = slots[next_number()]
    local free = slot.places - places_of(slot.name).held
    if free < 1 and holds_place(slot.name, id) then free = free + 1 end
    if free < 1 then admitted = false end
    taking[i] = slot
  end
  local account, caps_text = accounts[next_number()], next_text()
  local outcome, book, states
  local capped = caps_text ~= ''
  local counts = capped and caps ~= '' and not looks and admitted and cap_books().claimed(caps_text)
  if admitted and account then
    local hold_id, call, requested, hold_lease = next_text(), calls[next_number()], next_text(), next_number()
    book = read_account(account)
    outcome = hold(book, hold_id, call, requested, hold_lease, capped)
    if outcome == 'held' and not book.created and not counts then outcome = 'fresh' end
    local kept = outcome == 'kept' and string.sub(call.text, 1, 1) == 'c'
    if counts and (outcome == 'held' or kept) then
      local counted
      counted, states = cap_books().hold(counts, kept)
      if counted == 'held' then open(book) else outcome = counted end
      if counted ~= 'held' then undo_hold(book, hold_id, call) end
    end
  elseif counts then
    outcome, states = cap_books().hold(counts, counts.kept)
  end
  local draws = admitted and not looks and (not outcome or outcome == 'held' or outcome == 'kept' or outcome == 'fresh')
  if admitted then reply[1] = '1' end
  for i = 1, count do
    if draws then
      spend(wanted[i], costs[i])
      reply[i + 1] = reply[i + 1] - costs[i]
    end
    reply[i + 1] = string.format('%d', math.floor(reply[i + 1] * 1000000))
  end
  for _, slot in ipairs(taking) do
    local is_new = draws and take_place(slot.name, id, lease)
    local free = slot.places - places_of(slot.name).held
    if not draws and holds_place(slot.name, id) then free = free + 1 end
    reply[#reply + 1] = string.format('%d', free)
    reply[#reply + 1] = is_new and '1' or '0'
  end
  if outcome then
    reply[#reply + 1] = outcome
    reply[#reply + 1] = book and text_of(book.balance) or '0'
    local ahead = 0
    if (outcome == 'held' or outcome == 'kept') and position < after then
      ${drawingSlice}
    end
    reply[#reply + 1] = ahead
    reply[#reply + 1] = states and cap_books().text_of(states)
  end
  return table.concat(reply, ' ')
end
each_call(admit)
write_accounts()
write_buckets()
write_caps()
return replies
`,
)

export function addAdmission(to: Arguments, { claim, hold, looks = false, caps, slice }: AdmissionPart): void {
  const { id = '', leaseMs = 0, rates = [], places = [] } = claim ?? {}
  const held = hold && [...to.hold(hold.account, hold.id), String(hold.amount), String(hold.leaseMs)]
  const [account = '0', ...rest] = held ?? []
  to.add([
    looks ? 'look' : 'take',
    id,
    String(leaseMs),
    ...to.rates(rates),
    ...to.places(places),
    account,
    caps?.text ?? '',
    ...rest,
    ...(slice && hold
      ? [slice.id, slice.calls, hold.amount, Math.min(leaseMs, hold.leaseMs), slice.ms].map(String)
      : []),
  ])
}

/** Throws if the call failed. */
export function admittedOf(line: string, { claim, caps }: AdmissionPart): AdmittedPart {
  const [admitted, ...words] = line.split(' ')
  if (admitted !== '0' && admitted !== '1') throw new Error(line)
  const rates = claim?.rates.length ?? 0
  const end = rates + (claim?.places.length ?? 0) * 2
  const places = words.slice(rates, end)
  const [outcome, balance, ahead, states] = words.slice(end)
  return {
    admitted: admitted === '1',
    left: words.slice(0, rates).map((millionths) => Number(millionths) / 1e6),
    free: places.filter((_, index) => index % 2 === 0).map(Number),
    taken: places.flatMap((word, index) => (index % 2 === 0 ? [] : [word === '1'])),
    hold:
      outcome === undefined || balance === undefined
        ? undefined
        : {
            outcome: outcome === 'kept' || outcome === 'fresh' ? 'held' : (outcome as Held['outcome']),
            isNew: outcome === 'held' || outcome === 'fresh',
            opens: outcome === 'fresh',
            balance: BigInt(balance),
            ...(states !== undefined && caps !== undefined && { caps: capStatesOf(caps.claims, states) }),
          },
    ahead: Number(ahead ?? 0),
  }
}
