/** Requests with an `Idempotency-Key`: a hash for each, from its first attempt to the end of its answer's time. */
import { isUtf8 } from 'node:buffer'
import type { IdempotencyClaim, IdempotencyStore, IdempotencyVerdict, IdempotentAnswer } from '../index.ts'
import { lapsedMs } from '../lapsed.ts'
import { lua, type Scripts } from './scripts.ts'

const begin = lua(`
local name, attempt, digest, lease = key('attempt', ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
local found = redis.call('HMGET', name, 'attempt', 'digest', 'ends', 'status')
if found[1] and tonumber(found[3]) > now then
  if found[4] then
    local answer = redis.call('HMGET', name, 'headers', 'encoding', 'body')
    return { 'ended', found[2], found[4], answer[1], answer[2], answer[3] }
  end
  if found[1] ~= attempt then return { 'running', found[2] } end
end
redis.call('DEL', name)
redis.call('HSET', name, 'attempt', attempt, 'digest', digest, 'ends', real(now + lease))
redis.call('PEXPIRE', name, whole(math.ceil(lease) + ${lapsedMs}))
return { 'begun' }
`)

/** Whether the attempt holds the key. */
const holdsText = `
local name = key('attempt', ARGV[2])
local found = redis.call('HMGET', name, 'attempt', 'status')
local holds = found[1] == ARGV[3] and not found[2]
`

const finish = lua(
  holdsText,
  `
if not holds then return end
local keep = tonumber(ARGV[4])
redis.call('HSET', name, 'ends', real(now + keep), 'status', ARGV[5], 'headers', ARGV[6], 'encoding', ARGV[7],
  'body', ARGV[8])
redis.call('PEXPIRE', name, whole(math.ceil(keep)))
`,
)

const forget = lua(holdsText, `if holds then redis.call('DEL', name) end`)

export function redisIdempotency(scripts: Scripts): IdempotencyStore {
  return {
    async begin({ attempt, digest, leaseMs, ...claim }) {
      return verdictOf(await scripts.run<Told>(begin, placeOf(claim), attempt, digest, leaseMs))
    },
    async finish({ attempt, keepMs, answer, ...claim }) {
      const told = answer === undefined ? ['', '', '', ''] : wordsOf(answer)
      await scripts.run(finish, placeOf(claim), attempt, keepMs, ...told)
    },
    async forget({ attempt, ...claim }) {
      await scripts.run(forget, placeOf(claim), attempt)
    },
  }
}

type Told = readonly ['begun'] | readonly ['running', string] | readonly ['ended', string, ...Words]

/** Status, headers, the body's encoding, and the body. */
type Words = readonly [string, string, string, string]

/** Commands are text: what is none becomes base64. */
function wordsOf({ status, headers, body }: IdempotentAnswer): Words {
  const encoding = isUtf8(body) ? 'utf8' : 'base64'
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return [String(status), JSON.stringify(headers), encoding, bytes.toString(encoding)]
}

function verdictOf(told: Told): IdempotencyVerdict {
  if (told[0] === 'begun') return { outcome: 'begun' }
  const [outcome, digest, status, headers, encoding, body] = told
  if (outcome === 'running') return { outcome, digest }
  if (status === '') return { outcome, digest }
  const answer = { status: Number(status), headers: JSON.parse(headers) as Record<string, string> }
  return { outcome, digest, answer: { ...answer, body: Buffer.from(body, encoding as BufferEncoding) } }
}

function placeOf({ account, route, key }: Omit<IdempotencyClaim, 'attempt'>): string {
  return JSON.stringify([account, route, key])
}
