/** Faults of admission and of idempotency keys. */
import type { Edits } from './edits.ts'

export const inAdmission: Edits = {
  'src/admission/ticket.ts': [
    ['leases of open calls are not renewed', '    this.#admission.leases.add(this.#lease)\n', ''],
    [
      'the hold of a call that was not admitted is kept',
      'hold && { id: hold.id, account: hold.account })',
      'undefined)',
    ],
    [
      'the hold of a failed call is kept',
      'if (!settles) return hold && { id, account }',
      'if (!settles) return undefined',
    ],
    [
      'a charge is booked under another id',
      'Object.assign({ id, account, amount: cost }',
      'Object.assign({ id: `${id}-`, account, amount: cost }',
    ],
    [
      'a call is settled twice, each time anew',
      '      this.#vacate()\n      this.stored = this.#end(returned, end)',
      '      this.#vacate()\n      void this.#end(undefined, end && { ...end, id: `${end.id}-` })\n      this.stored = this.#end(returned, end)',
    ],
    [
      'the place of a completed call is kept',
      '      this.#vacate()\n      this.stored = this.#end(returned, end)',
      '      this.#end(returned && { ...returned, places: none }, end)',
    ],
    [
      'the place of a call that has failed is kept',
      'this.#end(returned && { ...returned, corrections: none }, undefined)',
      'void returned',
    ],
    ['tokens are corrected the wrong way', 'cost: tokens - rule.cost }', 'cost: rule.cost - tokens }'],
  ],
  'src/admission/leases.ts': [
    [
      'only one hold of a process is renewed',
      'filter((lease) => lease.held)',
      'filter((lease) => lease.held).slice(0, 1)',
    ],
    ['leases are renewed too late', 'this.#options.leaseMs / 3)', 'this.#options.leaseMs * 1.5)'],
  ],
  'src/admission/counters.ts': [
    [
      'a refused hold keeps its places',
      'return then(this.#giveBack(claim, taken), () => ({ ...taken, hold }))',
      'return { ...taken, hold }',
    ],
    ['a settlement that failed counts as accepted', 'if (failure !== undefined) throw failure.reason', 'void failure'],
  ],
  'src/records/queue.ts': [
    [
      'what a store refused is not sent again',
      'refused.length > 1 ? [...refused, ...this.#waiting] : [...this.#waiting, ...refused]',
      'this.#waiting',
    ],
    [
      'a deploy does not wait for settlements',
      '    await this.idle(ms)\n    clearTimeout(this.#timer)',
      '    clearTimeout(this.#timer)',
    ],
  ],
  'src/admission/entry.ts': [
    ['an admission without an answer is not undone', 'if (!isUnasked(error)) ticket.abandon()', 'void isUnasked'],
    [
      'a call begins although its hold was refused',
      "if (hold !== undefined && hold.outcome !== 'held') throw this.#refusal(hold, ticket)",
      'void this.#refusal',
    ],
    ['a call begins although the limits refused it', 'throw refusalOf(claim, rates, limits)', 'void refusalOf'],
  ],
  'src/admission/services.ts': [
    [
      'a call is refused before other processes have told what has ended',
      'if (ms === 0 || !(await',
      'if (ms >= 0 || !(await',
    ],
  ],
  'src/admission/demand.ts': [
    [
      'half of the highest cost is held',
      'caller.account, amount, leaseMs }',
      'caller.account, amount: amount / 2n, leaseMs }',
    ],
  ],
  'src/admission/highest-cost.ts': [
    ['the output is not held', '      outputTokens,\n      units', '      outputTokens: 1,\n      units'],
  ],
  'src/admission/cap-holds.ts': [
    [
      'a hold counts for one of its caps only',
      'const counted = { caps: claims,',
      'const counted = { caps: claims.slice(0, 1),',
    ],
    [
      'a settlement counts for one of its caps only',
      'caps: chargesOf(caps, states, caller)',
      'caps: chargesOf(caps, states, caller).slice(1)',
    ],
    ['caps count no tokens', 'tokens: BigInt(Math.ceil(tokens)) })', 'tokens: 0n })'],
  ],
  'src/admission/charge.ts': [
    [
      'a call costs twice its price',
      'cost: price.cost(consumed, multiplier)',
      'cost: price.cost(consumed, multiplier) * 2n',
    ],
  ],
  'src/admission/idempotency/memory.ts': [
    ['two attempts hold one key', 'holder.until > now() && holder.attempt !== claim.attempt', 'holder.until < 0'],
    [
      'an answer is not stored',
      '      ended.set(place, { digest: holder.digest, answer, until: now() + keepMs })\n',
      '',
    ],
    [
      'an attempt ends the key of another',
      'if (holder?.attempt !== claim.attempt) return',
      'if (holder === undefined) return',
    ],
    ['an attempt frees the key of another', 'if (holds(place, claim)) held.delete(place)', 'held.delete(place)'],
  ],
  'src/admission/idempotency/idempotency.ts': [
    [
      'a key in use elsewhere is served',
      "if (verdict.outcome === 'begun') return undefined",
      "if (verdict.outcome !== 'ended') return undefined",
    ],
  ],
  'src/admission/idempotency/keyed-request.ts': [
    [
      'the gateway does not store answers',
      'await this.#update(() => store.finish({ ...this.#start, keepMs, ...(kept && { answer: kept }) }))',
      'void store',
    ],
    [
      'keys are not renewed',
      'setInterval(() => this.#renew(), this.#start.leaseMs / 3)',
      'setInterval(() => undefined, 1e6)',
    ],
    ['the key of a failed request is kept', 'else await this.#forget(error', 'else void (error'],
  ],
  'src/admission/idempotency/recording.ts': [
    [
      'the end of a stored stream is missing',
      'Buffer.concat(this.#pieces)',
      'Buffer.concat(this.#pieces.slice(0, -1))',
    ],
  ],
}
