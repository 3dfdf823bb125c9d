/** The script that ends calls: corrects rates, frees places, and settles or releases holds. */
import type { Hold, LimitReturn, Settlement, SettleVerdict, SliceDraw } from '../index.ts'
import { endingsText, type Arguments } from './call-arguments.ts'
import { ledgerText } from './ledger-text.ts'
import { bucketsText } from './buckets-text.ts'
import { capChargeOf } from './cap-arguments.ts'
import { capsText } from './caps-text.ts'
import { lua } from './scripts.ts'
import { endingSlice, slicesText, writingSlices } from './slices-text.ts'

/** The end of a call, or of a part of it whose keys are on one node. */
export interface EndingPart {
  readonly returned?: LimitReturn | undefined
  /** Without an amount: a release. */
  readonly end?: HoldEnd | undefined
  /** For the node of the caps, if it is another one: what a settlement counts, or that the hold counts no longer. */
  readonly counts?: Counts | undefined
  /** A call that the slice of `returned` has admitted; without one, the slice has ended. */
  readonly slice?: Pick<Hold, 'account'> & Partial<SliceDraw>
}

export interface HoldEnd extends Pick<Hold, 'id' | 'account'>, Partial<Omit<Settlement, 'id' | 'account'>> {
  /** As if the hold had never been. */
  readonly undo?: boolean
  /** Opens the account, which a hold of zero may do, and ends nothing. */
  readonly opens?: boolean
}

export interface Counts {
  readonly call: string
  /** Of a settlement, as `capChargeOf` returns it. */
  readonly charge?: string
  /** What was left of the account before and after the settlement; empty if it is unlimited. */
  readonly left: readonly [before: string, after: string]
}

/** The end of a hold, and what is to be done on the node of the caps. */
export interface Ended {
  readonly verdict: SettleVerdict | undefined
  readonly left: readonly [before: string, after: string]
  /** Whether the hold counted for caps. */
  readonly counted: boolean
}

/** Replies with a line for each call: outcome, charge and overage of its end. */
export const finishText: string = lua(
  endingsText,
  bucketsText,
  ledgerText,
  capsText,
  slicesText,
  `
local function finish()
  local id, corrections = next_text(), {}
  for i = 1, next_number() do corrections[i] = { rates[next_number()], next_number() } end
  local places_count, freed = next_number(), {}
  for i = 1, places_count do freed[i] = slots[next_number()] end
  local account, kind, reply, after = accounts[next_number()], next_text(), '', ''
  if kind == 'draw' or kind == 'return' then
    ${endingSlice}
  elseif account then
    local hold_id, call, charge, caps_text = next_text(), calls[next_number()], next_text(), next_text()
    local book = read_account(account)
    local capped = call.text and string.sub(call.text, 1, 1) == 'c'
    local before = plus(book.balance, book.held)
    if kind == 'opens' then
      open(book)
    elseif kind == 'undo' then
      undo_hold(book, hold_id, call)
    else
      reply = end_hold(book, hold_id, call, kind == 'settle' and charge)
      -- Ended before: the client repeats the command.
      if string.sub(reply, 1, 7) ~= 'settled' then corrections = {} end
      if not book.unlimited then after = text_of(plus(book.balance, book.held)) end
    end
    local settled = kind == 'settle' and caps_text ~= '' and string.sub(reply, 1, 7) == 'settled'
    if caps == '' then
      before = after ~= '' and text_of(before) or ''
      if settled then redis.call('ZADD', account.base .. 'due:', now, before .. ' ' .. after .. ' ' .. caps_text) end
      reply = reply .. '|' .. before .. '|' .. after .. '|' .. (capped and '1' or '')
    elseif settled then
      cap_books().settle(cjson.decode(caps_text), after ~= '' and before, amount(after))
    elseif capped then
      cap_books().drop(cap_call_of(book, hold_id))
    end
  elseif kind ~= '' then
    local charge, before, last = next_text(), next_text(), next_text()
    if charge == '' then
      cap_books().drop(kind)
    else
      cap_books().settle(cjson.decode(charge), before ~= '' and amount(before), amount(last))
    end
  end
  for _, slot in ipairs(freed) do
    local drawn = slices and slices.moved[id]
    if drawn then drawn.places[slot.name] = nil else redis.call('ZREM', slot.name, id) end
  end
  for _, correction in ipairs(corrections) do spend(correction[1], correction[2]) end
  return reply
end
each_call(finish)
${writingSlices}
write_accounts()
write_buckets()
write_caps()
return replies
`,
)

export function addEnding(to: Arguments, { returned, end, counts, slice }: EndingPart): void {
  const { id = '', places = [], corrections = [] } = returned ?? {}
  const freed = to.places(places.map((bucket) => ({ bucket, places: 0 })))
  to.add([id, ...to.rates(corrections), ...freed, ...(slice ? sliceEndOf(to, slice) : endOf(to, end, counts))])
}

function sliceEndOf(to: Arguments, { account, hold, claim }: NonNullable<EndingPart['slice']>): string[] {
  if (hold === undefined || claim === undefined) return [to.account(account), 'return']
  const [index = '', ...call] = to.hold(account, hold.id)
  const { amount, leaseMs, tokens = 0n } = hold
  return [index, 'draw', ...call, String(amount), String(leaseMs), String(claim.leaseMs), String(tokens)]
}

function endOf(to: Arguments, end: HoldEnd | undefined, counts: Counts | undefined): string[] {
  if (counts !== undefined) return ['0', counts.call, counts.charge ?? '', ...counts.left]
  if (end === undefined) return ['0', '']
  const { id, account, amount, opens, undo } = end
  const kind = opens === true ? 'opens' : undo === true ? 'undo' : amount === undefined ? 'release' : 'settle'
  const [index = '0', ...call] = to.hold(account, id)
  return [index, kind, ...call, String(amount ?? 0n), amount === undefined ? '' : capChargeOf(end)]
}

/** Throws if the end failed. */
export function endedOf(line: string): Ended {
  const [words = '', before = '', after = '', counted = ''] = line.startsWith('error ') ? [line] : line.split('|')
  const end = { left: [before, after] as const, counted: counted === '1' }
  if (words === '') return { verdict: undefined, ...end }
  const [outcome, charged, overage] = words.split(' ')
  if (outcome === 'error' || charged === undefined || overage === undefined) throw new Error(line)
  const verdict = { outcome: outcome as SettleVerdict['outcome'], charged: BigInt(charged), overage: BigInt(overage) }
  return { verdict, ...end }
}
