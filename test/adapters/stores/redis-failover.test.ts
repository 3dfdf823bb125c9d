import { expect, test } from 'vitest'
import { redis } from '../../../adapters/stores/redis/redis.ts'

const claim = { id: 'call', rates: [], places: [], leaseMs: 1_000 }
const admitted = ['1', [], []]

/** A server that gives these answers, one to a command. */
function answering(...answers: readonly unknown[]) {
  const sent: string[][] = []
  const client = {
    async sendCommand(words: string[]) {
      const answer = answers[sent.length]
      sent.push(words)
      if (answer instanceof Error) throw answer
      return answer
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
])('a command that the server has not run is sent again: %s', async (message) => {
  const { client, sent } = answering(new Error(message), new Error(message), admitted)
  expect(await redis(client).limits.take(claim)).toEqual({ admitted: true, left: [], free: [] })
  expect(sent).toHaveLength(3)
})

test.each(['OOM command not allowed', 'ERR timeout', 'Socket closed unexpectedly', 'Connection is closed.'])(
  'a command that may have been run, or never will be, is not: %s',
  async (message) => {
    const { client, sent } = answering(new Error(message), admitted)
    await expect(redis(client).limits.take(claim)).rejects.toThrow(message)
    expect(sent).toHaveLength(1)
  },
)

test('what is no client is refused at once', () => {
  for (const client of [undefined, null, 'redis://127.0.0.1', {}, { sendCommand: 1 }]) {
    expect(() => redis(client as never)).toThrow('redis: needs a client of node-redis or ioredis')
  }
})

test('a sentinel client is asked for the master', async () => {
  const sent: unknown[][] = []
  const sentinel = {
    getSentinelNode: () => undefined,
    async sendCommand(...given: [boolean | undefined, string[]]) {
      sent.push(given)
      return admitted
    },
  }
  await redis(sentinel).limits.take(claim)
  expect(sent).toMatchObject([[false, expect.arrayContaining(['EVALSHA'])]])
})
