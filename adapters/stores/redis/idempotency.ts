/**
 * Idempotent requests: one hash for each `Idempotency-Key`, from the first attempt until the stored response expires, and a
 * sorted set of the ended ones of each account.
 */
import { isUtf8 } from 'node:buffer'
import {
  expiredAttemptMs,
  type IdempotencyClaim,
  type IdempotencyStore,
  type IdempotencyVerdict,
  type IdempotentAnswer,
} from '../index.ts'
import { objectIn } from '../unreadable.ts'
import type { KeyBases } from './key-bases.ts'
import { expiringText, lua, type Scripts } from './scripts.ts'

const begin = lua(`
local name, attempt, digest, lease = key('attempt', ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
local found = redis.call('HMGET', name, 'attempt', 'digest', 'ends', 'status')
if found[1] and tonumber(found[3]) > now then
  if found[4] then
    local response = redis.call('HMGET', name, 'headers', 'encoding', 'body')
    return { 'ended', found[2], found[4], response[1], response[2], response[3] }
  end
  if found[1] ~= attempt then return { 'running', found[2] } end
end
redis.call('DEL', name)
redis.call('HSET', name, 'attempt', attempt, 'digest', digest, 'ends', real(now + lease))
redis.call('PEXPIRE', name, whole(math.ceil(lease) + ${expiredAttemptMs}))
return { 'begun' }
`)

/** Sets `holds`: whether this attempt holds the key and has not finished. */
const holdsText = `
local name = key('attempt', ARGV[2])
local found = redis.call('HMGET', name, 'attempt', 'status')
local holds = found[1] == ARGV[3] and not found[2]
`

const finish = lua(
  holdsText,
  expiringText,
  `
if not holds then return end
local keep = tonumber(ARGV[4])
redis.call('HSET', name, 'ends', real(now + keep), 'status', ARGV[5], 'headers', ARGV[6], 'encoding', ARGV[7],
  'body', ARGV[8])
redis.call('PEXPIRE', name, whole(math.ceil(keep)))
note(key('ended', ARGV[9]), ARGV[2], keep)
`,
)

const forget = lua(holdsText, `if holds then redis.call('DEL', name) end`)

/** A member of the set may have begun again since: then an attempt holds it. */
const removeAll = lua(`
local ended = key('ended', ARGV[2])
for _, name in ipairs(redis.call('ZRANGE', ended, 0, 99)) do
  local attempt = key('attempt', name)
  if redis.call('HEXISTS', attempt, 'status') == 1 then redis.call('DEL', attempt) end
  redis.call('ZREM', ended, name)
end
return redis.call('EXISTS', ended)
`)

export function redisIdempotency(scripts: Scripts, keyBases: KeyBases): IdempotencyStore {
  return {
    async begin({ attempt, digest, leaseMs, ...claim }) {
      return verdictOf(
        await scripts.run<BeginReply>(begin, keyBases.baseOf(claim.account), nameOf(claim), attempt, digest, leaseMs),
      )
    },
    async finish({ attempt, keepMs, answer, ...claim }) {
      const fields = answer === undefined ? ['', '', '', ''] : fieldsOf(answer)
      await scripts.run(
        finish,
        keyBases.baseOf(claim.account),
        nameOf(claim),
        attempt,
        keepMs,
        ...fields,
        claim.account,
      )
    },
    async forget({ attempt, ...claim }) {
      await scripts.run(forget, keyBases.baseOf(claim.account), nameOf(claim), attempt)
    },
    async deleteAll(account) {
      return (await scripts.run<number>(removeAll, keyBases.baseOf(account), account)) === 1
    },
  }
}

type BeginReply = readonly ['begun'] | readonly ['running', string] | readonly ['ended', string, ...ResponseFields]

/** Status, headers, the body's encoding, and the body; the status is empty if no response was stored. */
type ResponseFields = readonly [string, string, string, string]

/** Commands are sent as text, so a body that is not UTF-8 is encoded as base64. */
function fieldsOf({ status, headers, body }: IdempotentAnswer): ResponseFields {
  const encoding = isUtf8(body) ? 'utf8' : 'base64'
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return [String(status), JSON.stringify(headers), encoding, bytes.toString(encoding)]
}

function verdictOf(reply: BeginReply): IdempotencyVerdict {
  if (reply[0] === 'begun') return { outcome: 'begun' }
  const [outcome, digest, status, headers, encoding, body] = reply
  if (outcome === 'running') return { outcome, digest }
  const given = objectIn(headers) as Record<string, string> | undefined
  if (status === '' || given === undefined) return { outcome, digest }
  const answer = { status: Number(status), headers: given }
  return { outcome, digest, answer: { ...answer, body: Buffer.from(body, encoding as BufferEncoding) } }
}

function nameOf({ account, route, key }: Omit<IdempotencyClaim, 'attempt'>): string {
  return JSON.stringify([account, route, key])
}
