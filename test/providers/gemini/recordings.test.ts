import { gemini } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { gemini as content } from '../../../src/formats/gemini/gemini.ts'
import { readFault, statusOf } from '../../../src/providers/content/fault.ts'
import { vendorError } from '../../../src/providers/vendor-error.ts'
import { vendorFor } from '../../hosted.ts'
import { hasShared, sharedJson } from '../../shared.ts'
import type { Sent } from '../vendor-requests.ts'
import { chatChunksOf } from '../../formats/chat-chunks.ts'
import { bytesOf, recordingsOf, replay } from '../recordings.ts'
import { testReplays } from '../replayed.ts'
import { served } from '../served.ts'
import { resultOfClient } from '../chat-results.ts'

const question = { model: 'gemini', messages: [{ role: 'user', content: 'Hello' }] }

testReplays({
  vendor: 'gemini',
  make: (baseURL) => gemini({ baseURL, apiKey: 'key' }),
  endMark: '"finishReason":',
  read: (source) => chatChunksOf(source, content.eventReader({ maker: 'google', failure })),
})

function failure(error: unknown): Error {
  return vendorError(readFault({ status: statusOf(error), error, openModel: false }))
}

describe.skipIf(!hasShared)('signatures', () => {
  const signed = recordingsOf('gemini').filter(({ expect: { round_trip: kept } }) => kept !== undefined)

  test.each(signed.flatMap((each) => [true, false].map((stream) => ({ ...each, wants: stream }))))(
    'are sent back to the model in the right place: $file, streamed to the client: $wants',
    async (recording) => {
      const vendor = await vendorFor(replay(recording))
      const { client } = await served({
        gemini: { provider: gemini({ baseURL: vendor.baseURL }), providerModel: 'gemini-2.5-pro' },
      })
      const result = await resultOfClient(client, question, recording.wants)
      const calls = result.calls.map(({ id, name, arguments: text, extra }) => {
        return { id, type: 'function', function: { name, arguments: text }, ...extra }
      })
      const answer = { role: 'assistant', content: result.content, ...(calls.length > 0 && { tool_calls: calls }) }
      const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }))
      const next = [...question.messages, { ...answer, ...result.extra }, ...results, { role: 'user', content: 'On.' }]

      await resultOfClient(client, { ...question, messages: next }, false)

      const sent = vendor.requests[1]?.json as Sent
      const parts = sent.contents[1].parts as { thoughtSignature?: string; functionCall?: object; text?: string }[]
      const kept = parts.filter(({ thoughtSignature }) => thoughtSignature !== undefined)
      const { thought_signatures: count, calls_with_signature: places } = recording.expect['round_trip'] as {
        thought_signatures: number
        calls_with_signature: number[]
      }
      expect(kept.map(({ thoughtSignature }) => thoughtSignature)).toEqual(signaturesIn(bytesOf(recording)))
      expect(kept).toHaveLength(count)
      const onCalls = parts.filter(({ functionCall }) => functionCall !== undefined)
      expect(onCalls.flatMap(({ thoughtSignature }, index) => (thoughtSignature ? [index] : []))).toEqual(places)
    },
  )
})

test.skipIf(!hasShared)(
  'sends a turn with a call, its signature and its result as in the recorded request',
  async () => {
    const { body } = sharedJson('recordings/gemini/tool-result-turn.request.json') as { body: Sent }
    const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
    const { client } = await served({
      gemini: { provider: gemini({ baseURL: vendor.baseURL }), providerModel: 'gemini-3-flash-preview' },
    })
    const [user, called, answered] = body.contents
    const { functionCall: past, thoughtSignature: signature } = called.parts[0]
    const messages = [
      { role: 'user', content: user.parts[0].text },
      {
        role: 'assistant',
        tool_calls: [
          {
            id: past.id,
            type: 'function',
            function: { name: past.name, arguments: '{}' },
            extra_content: { google: { thought_signature: signature } },
          },
        ],
      },
      { role: 'tool', tool_call_id: past.id, content: JSON.stringify(answered.parts[0].functionResponse.response) },
    ]
    const [{ functionDeclarations: declared }] = body.tools
    const tools = declared.map(({ name, parameters_json_schema: parameters }: Sent) => {
      return { type: 'function', function: { name, parameters } }
    })
    const format = {
      type: 'json_schema',
      json_schema: { name: 'city', schema: body.generationConfig.responseJsonSchema },
    }

    await resultOfClient(client, { model: 'gemini', messages, tools, response_format: format }, false)

    expect(vendor.requests[0]?.url).toBe('/v1/models/gemini-3-flash-preview:generateContent')
    expect(vendor.requests[0]?.json).toEqual({
      contents: body.contents,
      generationConfig: {
        responseMimeType: 'application/json',
        responseJsonSchema: body.generationConfig.responseJsonSchema,
      },
      tools: [
        { functionDeclarations: [{ name: past.name, parametersJsonSchema: declared[0].parameters_json_schema }] },
      ],
    })
  },
)

function signaturesIn(bytes: Buffer): string[] {
  return [...bytes.toString('utf8').matchAll(/"thoughtSignature": ?"([^"]*)"/g)].map(([, signature]) => signature ?? '')
}
