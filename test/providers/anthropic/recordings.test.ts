import { anthropic } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { statusOf, readFault } from '../../../src/providers/messages/fault.ts'
import { messages } from '../../../src/formats/messages/messages.ts'
import { vendorError } from '../../../src/providers/vendor-error.ts'
import { chatChunksOf } from '../../formats/chat-chunks.ts'
import { bytesOf, recordingsOf, replay } from '../recordings.ts'
import { testReplays } from '../replayed.ts'
import { vendorFor } from '../../hosted.ts'
import { served } from '../served.ts'
import { resultOfClient } from '../chat-results.ts'
import { hasShared, sharedJson } from '../../shared.ts'

const question = { model: 'claude', messages: [{ role: 'user', content: 'Hello' }] }
const recordings = recordingsOf('anthropic')

testReplays({
  vendor: 'anthropic',
  make: (baseURL) => anthropic({ baseURL, apiKey: 'sk-ant' }),
  endMark: '"stop_reason":"',
  read: (source) => chatChunksOf(source, messages.eventReader({ maker: 'anthropic', failure })),
})

function failure(error: unknown): Error {
  return vendorError(readFault({ status: statusOf(error), error, openModel: false }))
}

describe.skipIf(!hasShared)('the model’s thinking', () => {
  const thinking = recordings.filter(({ expect: { round_trip: kept } }) => kept !== undefined)

  test.each(thinking.flatMap((each) => [true, false].map((stream) => ({ ...each, wants: stream }))))(
    'is sent back to it unchanged: $file, streamed to the client: $wants',
    async (recording) => {
      const vendor = await vendorFor(replay(recording))
      const { client } = await served({ claude: anthropic({ baseURL: vendor.baseURL }) })
      const result = await resultOfClient(client, question, recording.wants)
      const calls = result.calls.map(({ id, name, arguments: text }) => {
        return { id, type: 'function', function: { name, arguments: text } }
      })
      const answer = { role: 'assistant', content: result.content, ...(calls.length > 0 && { tool_calls: calls }) }
      const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }))
      const next = [...question.messages, { ...answer, ...result.extra }, ...results, { role: 'user', content: 'On.' }]

      await resultOfClient(client, { ...question, messages: next }, false)

      const sent = vendor.requests[1]?.json as { messages: { role: string; content: { type: string }[] }[] }
      const kinds = new Set(['thinking', 'redacted_thinking'])
      expect(sent.messages[1]?.content.filter(({ type }) => kinds.has(type))).toEqual(
        thoughtIn(bytesOf(recording), recording.stream),
      )
    },
  )
})

test.skipIf(!hasShared)(
  'sends four results of parallel calls in one user turn, as in the recorded request',
  async () => {
    const { body } = sharedJson('recordings/anthropic/parallel-tool-results.request.json') as { body: Recorded }
    const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
    const { client } = await served({ claude: anthropic({ baseURL: vendor.baseURL }) })
    const [first, called, answered] = body.messages
    const calls = called?.content.filter(({ type }) => type === 'tool_use') ?? []
    const messages = [
      { role: 'system', content: body.system },
      { role: 'user', content: first?.content[0]?.text },
      {
        role: 'assistant',
        content: called?.content[0]?.text,
        tool_calls: calls.map(({ id, name, input }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        })),
      },
      ...(answered?.content ?? []).map(({ tool_use_id: id, content }) => ({ role: 'tool', tool_call_id: id, content })),
    ]
    const tools = body.tools.map(({ name, description, input_schema: parameters }) => {
      return { type: 'function', function: { name, description, parameters } }
    })

    await resultOfClient(client, { model: 'claude', messages, tools, tool_choice: 'auto', max_tokens: 4096 }, false)

    const { stream: _, ...expected } = body
    const results = answered?.content.map(({ is_error: __, ...result }) => result)
    expect(vendor.requests[0]?.json).toEqual({
      ...expected,
      model: 'claude',
      messages: [first, called, { role: 'user', content: results }],
    })
  },
)

interface Recorded {
  readonly system: string
  readonly stream: boolean
  readonly tools: { name: string; description: string; input_schema: object }[]
  readonly messages: { role: string; content: { type: string; [field: string]: unknown }[] }[]
}

function thoughtIn(bytes: Buffer, stream: boolean): unknown[] {
  if (!stream) {
    const { content } = JSON.parse(bytes.toString('utf8')) as { content: { type: string }[] }
    return content.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
  }
  const deltas = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => (JSON.parse(line.slice(5)) as { delta?: { thinking?: string; signature?: string } }).delta ?? {})
  const joined = (name: 'thinking' | 'signature') => deltas.map((delta) => delta[name] ?? '').join('')
  return [{ type: 'thinking', thinking: joined('thinking'), signature: joined('signature') }]
}
