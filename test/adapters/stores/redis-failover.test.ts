import { expect, test } from 'vitest'
import { redis } from '../../../adapters/stores/redis/redis.ts'

const claim = { id: 'call', rates: [], places: [], leaseMs: 1_000 }
const admitted = ['1', [], []]

/** The replies to the questions for the layout and for evictions, which precede all other commands. */
const first = ['2 2', '']

/** A client whose commands get these replies, one each; an `Error` is thrown. */
function replying(...given: readonly unknown[]) {
  const replies = [...first, ...given]
  const sent: string[][] = []
  const client = {
    async sendCommand(args: string[]) {
      const reply = replies[sent.length]
      sent.push(args)
      if (reply instanceof Error) throw reply
      return reply
    },
  }
  return { client, sent }
}

test.each([
  'CLUSTERDOWN Hash slot not served',
  'LOADING Redis is loading the dataset in memory',
  "READONLY You can't write against a read only replica.",
  'MASTERDOWN Link with MASTER is down',
  'TRYAGAIN Multiple keys request during rehashing of slot',
])('a command that the server has not executed is sent again: %s', async (message) => {
  const { client, sent } = replying(new Error(message), new Error(message), admitted)
  expect(await redis(client).limits.take(claim)).toEqual({ admitted: true, left: [], free: [] })
  expect(sent.slice(first.length)).toHaveLength(3)
})

test.each(['OOM command not allowed', 'ERR timeout', 'Socket closed unexpectedly', 'Connection is closed.'])(
  'a command that may have been executed, or that would fail again, is not sent again: %s',
  async (message) => {
    const { client, sent } = replying(new Error(message), admitted)
    await expect(redis(client).limits.take(claim)).rejects.toThrow(message)
    expect(sent.slice(first.length)).toHaveLength(1)
  },
)

test('a value that is not a supported client is rejected', () => {
  for (const client of [undefined, null, 'redis://127.0.0.1', {}, { sendCommand: 1 }]) {
    expect(() => redis(client as never)).toThrow('redis: needs a client of node-redis or ioredis')
  }
})

test('commands of a sentinel client go to the master', async () => {
  const sent: unknown[][] = []
  const sentinel = {
    getSentinelNode: () => undefined,
    async sendCommand(...args: [boolean | undefined, string[]]) {
      sent.push(args)
      return first[sent.length - 1] ?? admitted
    },
  }
  await redis(sentinel).limits.take(claim)
  expect(sent).toMatchObject(Array.from({ length: 3 }, () => [false, expect.arrayContaining(['EVALSHA'])]))
})
