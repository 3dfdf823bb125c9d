/** Faults of the ledger, of caps and of limits in memory. */
import type { Edits } from './edits.ts'

export const inMoney: Edits = {
  'src/money/ledger/memory.ts': [
    [
      'a hold succeeds whatever the balance',
      'balance < amount && !unlimited && !isFree',
      'balance < 0n && !unlimited && !isFree',
    ],
    ['a hold does not reduce the balance', '    book.balance -= amount\n', ''],
    [
      'a hold that has ended is held again',
      'if (this.#lines.has(holdKey(id))) return { outcome',
      "if (id === '') return { outcome",
    ],
    ['a repeated hold is drawn twice', 'if (open !== undefined) {', "if (id === '' && open !== undefined) {"],
    [
      'a repeated settlement is charged again',
      'book.holds.has(id) ? undefined : this.#lines.get(holdKey(id))',
      'undefined as LedgerEntry | undefined',
    ],
    ['a settlement does not return its hold', 'book.balance += held - amount', 'book.balance -= amount'],
    ['a settlement costs what was held', 'book.balance += held - amount', 'book.balance += held > 0n ? 0n : -amount'],
    ['a settlement leaves the hold open', '    book.holds.delete(id)\n', ''],
    ['overage is not reported', 'const overage = amount > held ? amount - held : 0n', 'const overage = 0n'],
    [
      'a release returns nothing',
      '    book.balance += this.#drop(book, id)\n    this',
      '    this.#drop(book, id)\n    this',
    ],
    [
      'a release is not remembered',
      "    this.#write(holdKey(id), { account, kind: 'release', reference: id, amount: 0n, overage: 0n })\n",
      '',
    ],
    ['a lapsed hold can be renewed', ' || hold.end <= now) continue', ') continue'],
    ['a renewal changes nothing', '      hold.end = now + leaseMs\n', ''],
    [
      'a lapsed hold is lost',
      'if (end <= now) book.balance += this.#drop(book, id)',
      'if (end <= now) this.#drop(book, id)',
    ],
    ['holds lapse 20 seconds late', 'if (end <= now) book', 'if (end <= now - 20_000) book'],
    [
      'a new hold is not looked for when leases lapse',
      '    book.soonest = Math.min(book.soonest, end)\n    return',
      '    return',
    ],
    ['a payment is credited twice', 'if (made !== undefined) {', "if (reference === '' && made !== undefined) {"],
  ],
  'src/money/ledger/memory-caps.ts': [
    ['an ended hold counts on for its caps', '    this.#draw(draw, -1)\n', ''],
    [
      'a settlement does not count for caps',
      'change(this.#use(charge).settled, amounts, 1n)',
      'change(this.#use(charge).settled, amounts, 0n)',
    ],
    ['a settlement is not a call', '{ money: amount, tokens, calls: 1n }', '{ money: amount, tokens, calls: 0n }'],
    [
      'a refund does not count for caps',
      '{ money, tokens: 0n, calls: 0n }, -1n)',
      '{ money, tokens: 0n, calls: 0n }, 0n)',
    ],
    ['a rolling window forgets its earlier periods', 'use.start >= start - rollingMs', 'use.start >= start'],
    ['an override of a cap is ignored', 'capLimitsWith(claim.limits, this.overrides(claim.name))', 'claim.limits'],
    ['caps count holds that have lapsed', '      for (const claim of claims) this.#dropExpired(claim)\n', ''],
  ],
  'src/money/caps/period.ts': [
    [
      'caps do not count what is held',
      'settled[measure] + held[measure] + more[measure]',
      'settled[measure] + more[measure]',
    ],
    [
      'caps do not count what is settled',
      'settled[measure] + held[measure] + more[measure]',
      'held[measure] + more[measure]',
    ],
    ['a cap may be passed by a little', '<= limit\n', '<= limit + 40n\n'],
    [
      'only the first measure of a cap is limited',
      'return capMeasures.every((measure) => {\n    const limit',
      'return capMeasures.slice(0, 1).every((measure) => {\n    const limit',
    ],
  ],
  'src/money/limits/memory.ts': [
    ['one request more than there are places', 'places >= 1)', 'places >= 0)'],
    ['a rate may be overdrawn', '< (rates[at] as RateRule).cost) return false', '< 0) return false'],
    ['a place is not given back', '      slots?.leases.delete(id)\n', ''],
    ['a rate is not corrected', '    for (const rule of corrections) this.#draw(rule, now)\n', ''],
    [
      'places lapse a minute late',
      'if (end <= now) leases.delete(holder)',
      'if (end <= now - 60_000) leases.delete(holder)',
    ],
    [
      'a rate is refilled three times as fast',
      '(Math.max(0, now - bucket.at) * limit)',
      '(Math.max(0, now - bucket.at) * limit * 3)',
    ],
  ],
  'src/money/limits/reached-limits.ts': [
    [
      'a process does not count down its own requests',
      'if (taken > 1) this.#places.set(bucket, taken - 1)',
      'if (taken > 0) this.#places.set(bucket, taken)',
    ],
    ['a process refuses while the rate has units left', 'refillMs(rule, 1 - left)', 'refillMs(rule, 6 - left)'],
  ],
}
