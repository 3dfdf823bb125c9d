/** The contract of `IdempotencyStore` as a suite for any test runner. */
import assert from 'node:assert/strict'
import type { IdempotencyStart, IdempotencyStore, IdempotentAnswer } from '../idempotency/contract.ts'
import { fresh, assertStoresLarge, oddNames, race, suiteOf, type StoreKitOptions } from './kit.ts'
import { testAttemptNames } from './lookalikes.ts'
import type { TestFunction } from './runner.ts'

const leaseMs = 60_000
const keepMs = 60_000
/** Milliseconds that a test can wait for, and after which something short is over for certain. */
const [brief, past] = [300, 450]

/** Registers one test for each promise. `factory` gives a store; records of other tests in it do no harm. */
export function testIdempotencyStore(
  test: TestFunction,
  factory: () => Promise<IdempotencyStore> | IdempotencyStore,
  options: StoreKitOptions<IdempotencyStore> = {},
): void {
  const { it, wait } = suiteOf('idempotency store', test, factory, options)

  it('one attempt begins; the next is told what is running', async (store, other) => {
    const first = start()
    assert.deepEqual(await store.begin(first), { outcome: 'begun' })
    const running = { outcome: 'running', digest: first.digest }
    assert.deepEqual(await other.begin(next(first)), running)
    assert.deepEqual(await other.begin(next(first, { digest: 'another' })), running)
  })

  it('of many attempts at once exactly one begins', async (store, other) => {
    for (let round = 0; round < 5; round++) {
      const first = start()
      const verdicts = await race(20, [store, other], async (handle) => handle.begin(next(first)))
      assert.equal(verdicts.filter(({ outcome }) => outcome === 'begun').length, 1)
    }
  })

  it('an answer comes back byte for byte, whoever asks', async (store, other) => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    for (const body of [bytes, Buffer.alloc(0), Buffer.from('\uFEFF{"a":"\\u0000"}\0')]) {
      const first = start()
      const answer = { status: 201, headers: { 'content-type': 'a/b; "c"', 'x-odd': "'; --" }, body }
      await store.begin(first)
      await store.finish({ ...first, keepMs, answer })
      assert.deepEqual(plain(await other.begin(next(first))), { outcome: 'ended', digest: first.digest, answer })
      assert.deepEqual(plain(await store.begin(next(first))), { outcome: 'ended', digest: first.digest, answer })
    }
  })

  it('keeps an answer of 4 MiB', async (store, other) => {
    const first = start()
    const answer = { status: 200, headers: {}, body: Buffer.alloc(4 * 1024 * 1024, 'naïve 🎈 ') }
    await assertStoresLarge('an answer of 4 MiB', { outcome: 'ended', digest: first.digest, answer }, async () => {
      await store.begin(first)
      await store.finish({ ...first, keepMs, answer })
      return plain(await other.begin(next(first))) as { outcome: 'ended'; digest: string; answer: typeof answer }
    })
  })

  it('an attempt may end without an answer', async (store, other) => {
    const first = start()
    await store.begin(first)
    await store.finish({ ...first, keepMs })
    assert.deepEqual(await other.begin(next(first)), { outcome: 'ended', digest: first.digest })
  })

  it('what was forgotten can begin again', async (store, other) => {
    const first = start()
    await store.begin(first)
    await store.forget(first)
    assert.deepEqual(await other.begin(next(first)), { outcome: 'begun' })
  })

  it('nobody ends or forgets what another attempt holds', async (store, other) => {
    const first = start()
    await store.begin(first)
    await other.finish({ ...next(first), keepMs, answer: text('foreign') })
    await other.forget(next(first))
    assert.deepEqual(await other.begin(next(first)), { outcome: 'running', digest: first.digest })
  })

  it('nobody ends what was never begun', async (store) => {
    const first = start()
    await store.finish({ ...first, keepMs, answer: text('from nowhere') })
    await store.forget(first)
    assert.deepEqual(await store.begin(first), { outcome: 'begun' })
  })

  it('what has ended stays as it is, for its own attempt too', async (store) => {
    const first = start()
    const answer = text('first')
    await store.begin(first)
    await store.finish({ ...first, keepMs, answer })
    await store.finish({ ...first, keepMs, answer: text('second') })
    await store.forget(first)
    assert.deepEqual(plain(await store.begin(first)), { outcome: 'ended', digest: first.digest, answer })
    assert.deepEqual(plain(await store.begin(next(first))), { outcome: 'ended', digest: first.digest, answer })
  })

  it('a lease that has run out leaves the key to the next attempt, and the last one nothing to end', async (store, other) => {
    const first = start({ leaseMs: brief })
    await store.begin(first)
    assert.equal((await other.begin(next(first))).outcome, 'running')
    await wait(past)
    const second = next(first, { leaseMs })
    assert.deepEqual(await other.begin(second), { outcome: 'begun' })
    await store.finish({ ...first, keepMs, answer: text('late') })
    await store.forget(first)
    assert.deepEqual(await store.begin(next(first)), { outcome: 'running', digest: second.digest })
  })

  it('a sign of life begins the lease anew', async (store, other) => {
    const first = start({ leaseMs: brief })
    await store.begin(first)
    assert.deepEqual(await store.begin({ ...first, leaseMs }), { outcome: 'begun' })
    await wait(past)
    assert.equal((await other.begin(next(first))).outcome, 'running')
  })

  it('an answer whose time is over is not given any more', async (store, other) => {
    const first = start()
    await store.begin(first)
    await store.finish({ ...first, keepMs: brief, answer: text('old') })
    await wait(past)
    assert.deepEqual(await other.begin(next(first)), { outcome: 'begun' })
  })

  testAttemptNames(it, start)

  it('account, route and key tell records apart, each by itself and whatever they hold', async (store) => {
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

/** With a body that can be compared, whichever kind of bytes the store gives. */
function plain(verdict: Awaited<ReturnType<IdempotencyStore['begin']>>) {
  if (verdict.outcome !== 'ended' || verdict.answer === undefined) return verdict
  return { ...verdict, answer: { ...verdict.answer, body: Buffer.from(verdict.answer.body) } }
}
