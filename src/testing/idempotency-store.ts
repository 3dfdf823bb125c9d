import assert from 'node:assert/strict'
import type { IdempotencyStart, IdempotencyStore, IdempotentAnswer } from '../admission/idempotency/contract.ts'
import {
  fresh,
  assertStoresLarge,
  similarNames,
  oddNames,
  race,
  suiteOf,
  untilDone,
  type StoreKitOptions,
  type TestFunction,
} from './kit.ts'
import { testAttemptNames } from './exact-names.ts'

const leaseMs = 60_000
const keepMs = 60_000
/** Milliseconds: a short lease or keep time, and a wait after which it has expired. */
const [shortMs, waitMs] = [300, 450]

/**
 * Registers one test for each requirement of the `IdempotencyStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses accounts of its own.
 * @example
 * ```ts
 * testIdempotencyStore(test, () => myStore())
 * ```
 */
export function testIdempotencyStore(
  test: TestFunction,
  factory: () => Promise<IdempotencyStore> | IdempotencyStore,
  options: StoreKitOptions<IdempotencyStore> = {},
): void {
  const { it, wait, withLease } = suiteOf('idempotency store', test, factory, options)

  it('the first attempt begins; others see it running, with its digest', async (store, other) => {
    const first = start()
    assert.deepEqual(await store.begin(first), { outcome: 'begun' })
    const running = { outcome: 'running', digest: first.digest }
    assert.deepEqual(await other.begin(next(first)), running)
    assert.deepEqual(await other.begin(next(first, { digest: 'another' })), running)
  })

  it('exactly one of many concurrent attempts begins', async (store, other) => {
    for (let round = 0; round < 5; round++) {
      const first = start()
      const verdicts = await race(20, [store, other], async (handle) => handle.begin(next(first)))
      assert.equal(verdicts.filter(({ outcome }) => outcome === 'begun').length, 1)
    }
  })

  it('a stored response is returned byte for byte, through every handle', async (store, other) => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    for (const body of [bytes, Buffer.alloc(0), Buffer.from('\uFEFF{"a":"\\u0000"}\0')]) {
      const first = start()
      const answer = { status: 201, headers: { 'content-type': 'a/b; "c"', 'x-odd': "'; --" }, body }
      await store.begin(first)
      await store.finish({ ...first, keepMs, answer })
      assert.deepEqual(comparable(await other.begin(next(first))), { outcome: 'ended', digest: first.digest, answer })
      assert.deepEqual(comparable(await store.begin(next(first))), { outcome: 'ended', digest: first.digest, answer })
    }
  })

  it('stores a response of 4 MiB', async (store, other) => {
    const first = start()
    const answer = { status: 200, headers: {}, body: Buffer.alloc(4 * 1024 * 1024, 'naïve 🎈 ') }
    await assertStoresLarge('a response of 4 MiB', { outcome: 'ended', digest: first.digest, answer }, async () => {
      await store.begin(first)
      await store.finish({ ...first, keepMs, answer })
      return comparable(await other.begin(next(first))) as { outcome: 'ended'; digest: string; answer: typeof answer }
    })
  })

  it('an attempt may finish without a response', async (store, other) => {
    const first = start()
    await store.begin(first)
    await store.finish({ ...first, keepMs })
    assert.deepEqual(await other.begin(next(first)), { outcome: 'ended', digest: first.digest })
  })

  it('a forgotten record can begin again', async (store, other) => {
    const first = start()
    await store.begin(first)
    await store.forget(first)
    assert.deepEqual(await other.begin(next(first)), { outcome: 'begun' })
  })

  it('an attempt cannot finish or forget a record that another attempt holds', async (store, other) => {
    const first = start()
    await store.begin(first)
    await other.finish({ ...next(first), keepMs, answer: text('foreign') })
    await other.forget(next(first))
    assert.deepEqual(await other.begin(next(first)), { outcome: 'running', digest: first.digest })
  })

  it('finishing a record that never began has no effect', async (store) => {
    const first = start()
    await store.finish({ ...first, keepMs, answer: text('from nowhere') })
    await store.forget(first)
    assert.deepEqual(await store.begin(first), { outcome: 'begun' })
  })

  it('a finished record does not change, not even by its own attempt', async (store) => {
    const first = start()
    const answer = text('first')
    await store.begin(first)
    await store.finish({ ...first, keepMs, answer })
    await store.finish({ ...first, keepMs, answer: text('second') })
    await store.forget(first)
    assert.deepEqual(comparable(await store.begin(first)), { outcome: 'ended', digest: first.digest, answer })
    assert.deepEqual(comparable(await store.begin(next(first))), { outcome: 'ended', digest: first.digest, answer })
  })

  it('after a lease expires the next attempt can begin, and the previous one can no longer finish', async (store, other) => {
    await withLease(async (shortMs, expire) => {
      const first = start({ leaseMs: shortMs })
      await store.begin(first)
      assert.equal((await other.begin(next(first))).outcome, 'running')
      await expire()
      const second = next(first, { leaseMs })
      assert.deepEqual(await other.begin(second), { outcome: 'begun' })
      await store.finish({ ...first, keepMs, answer: text('late') })
      await store.forget(first)
      assert.deepEqual(await store.begin(next(first)), { outcome: 'running', digest: second.digest })
    })
  })

  it('beginning again with the same attempt renews its lease', async (store, other) => {
    await withLease(async (shortMs, expire) => {
      const first = start({ leaseMs: shortMs })
      await store.begin(first)
      assert.deepEqual(await store.begin({ ...first, leaseMs }), { outcome: 'begun' })
      await expire()
      assert.equal((await other.begin(next(first))).outcome, 'running')
    })
  })

  it('a stored response expires after keepMs', async (store, other) => {
    const first = start()
    await store.begin(first)
    await store.finish({ ...first, keepMs: shortMs, answer: text('old') })
    await wait(waitMs)
    assert.deepEqual(await other.begin(next(first)), { outcome: 'begun' })
  })

  it('deleteAll deletes every stored response of an account, and none of others', async (store, other) => {
    if (store.deleteAll === undefined) return
    const { account } = start()
    const mine = Array.from({ length: 150 }, (_, index) => start({ account, key: `key ${index}` }))
    const others = [...similarNames(account), account.slice(0, -1)].map((name) => start({ account: name }))
    for (const each of [...mine, ...others]) {
      await store.begin(each)
      await store.finish({ ...each, keepMs, answer: text('kept') })
    }
    await untilDone(() => other.deleteAll?.(account))
    for (const each of mine) assert.deepEqual(await store.begin(next(each)), { outcome: 'begun' })
    for (const each of others) assert.equal((await store.begin(next(each))).outcome, 'ended')
    assert.equal(await store.deleteAll(fresh('account')), false)
  })

  it('deleteAll leaves a record that an attempt holds, also one that had ended before', async (store, other) => {
    if (store.deleteAll === undefined) return
    const first = start()
    await store.begin(first)
    await store.finish({ ...first, keepMs: shortMs, answer: text('old') })
    await wait(waitMs)
    const [second, third] = [next(first), next(first, { key: 'other' })]
    for (const each of [second, third]) await store.begin(each)
    await untilDone(() => other.deleteAll?.(first.account))
    for (const each of [second, third]) {
      assert.equal((await store.begin(next(each))).outcome, 'running')
      await other.finish({ ...each, keepMs, answer: text('new') })
      assert.equal((await store.begin(next(each))).outcome, 'ended')
    }
  })

  testAttemptNames(it, start)

  it('records with different accounts, routes or keys are separate, whatever characters these contain', async (store) => {
    const { account } = start()
    const records = [
      { account, route: 'a', key: 'bc' },
      { account, route: 'ab', key: 'c' },
      { account: `${account}a`, route: 'b', key: 'c' },
      { account, route: 'a', key: 'BC' },
      { account, route: 'a:b', key: 'c' },
      { account, route: 'a', key: 'b:c' },
      { account, route: 'a', key: '%_*[a]\\"\'' },
      { account, route: 'a', key: 'k'.repeat(255) },
      { account, route: 'a', key: 'k'.repeat(254) },
      ...oddNames.map((name) => ({ account: `${account} ${name}`, route: 'a', key: 'bc' })),
    ]
    for (const record of records) assert.deepEqual(await store.begin(start(record)), { outcome: 'begun' }, record.key)
  })
}

function start(change: Partial<IdempotencyStart> = {}): IdempotencyStart {
  const digest = 'd'.repeat(64)
  return {
    account: fresh('account'),
    route: 'chat.completions',
    key: 'key',
    attempt: fresh('req'),
    digest,
    leaseMs,
    ...change,
  }
}

function next(before: IdempotencyStart, change: Partial<IdempotencyStart> = {}): IdempotencyStart {
  return { ...before, attempt: fresh('req'), ...change }
}

function text(body: string): IdempotentAnswer {
  return { status: 200, headers: {}, body: Buffer.from(body) }
}

/** The verdict with its body as a Buffer: stores may return any Uint8Array. */
function comparable(verdict: Awaited<ReturnType<IdempotencyStore['begin']>>) {
  if (verdict.outcome !== 'ended' || verdict.answer === undefined) return verdict
  return { ...verdict, answer: { ...verdict.answer, body: Buffer.from(verdict.answer.body) } }
}
