/** Large integers in the input of tools, through another wire format and back. */
import { defineProvider, Verbatim, type Call } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { clientLine, resultIn } from '../../../src/endpoints/batches/messages/result.ts'
import type { StoredBatch } from '../../../src/endpoints/batches/batch-task.ts'
import type { GenerateContentRequest } from '../../../src/wire/gemini.ts'
import type { Message, MessageRequest } from '../../../src/wire/messages.ts'
import { hostedWith } from '../../hosted.ts'

const large = '1234567890123456789'

const answer = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{"id":${large}}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`

const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }

/** A vendor with Messages, and the requests that it gets. */
function scripted() {
  const sent: string[] = []
  const provider = defineProvider({
    name: 'scripted',
    message(call: Call<MessageRequest>) {
      sent.push(Buffer.from(call.json({})).toString('utf8'))
      return new Verbatim(JSON.parse(answer) as Message, Buffer.from(answer))
    },
  })
  return { sent, provider }
}

test('a chat keeps every digit toward a vendor with Messages, and of its answer', async () => {
  const { sent, provider } = scripted()
  const { url } = await hostedWith({ models: { m: provider } })
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: `{"model":"m","messages":[{"role":"user","content":"Find it."},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":"{\\"id\\":${large}}"}}]},{"role":"tool","tool_call_id":"a","content":"found"}],"tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{"id":{"type":"integer","minimum":${large}}}}}}]}`,
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  expect(sent[0]).toContain(`"input":{"id":${large}}`)
  expect(sent[0]).toContain(`"minimum":${large}`)
  const { choices } = JSON.parse(text) as {
    choices: { message: { tool_calls: { function: { arguments: string } }[] } }[]
  }
  expect(choices[0]?.message.tool_calls[0]?.function.arguments).toBe(`{"id":${large}}`)
})

test('a message of a model whose thinking is sealed keeps every digit, and so does its history', async () => {
  const { sent, provider } = scripted()
  const { url } = await hostedWith({ models: { m: { provider, providerModel: 'kimi-k2' } } })
  const past = `{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"mh1.other.eA"},{"type":"tool_use","id":"a","name":"find","input":{"id":${large}}}]}`
  const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found"}]}'
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers,
    body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Find it."},${past},${result}]}`,
  })
  expect(await response.text()).toContain(`"input":{"id":${large}}`)
  expect(sent[0]).not.toContain('thinking')
  expect(sent[0]).toContain(`"input":{"id":${large}}`)
})

test("a conversation in Google's format with the state of another maker keeps every digit", async () => {
  const sent: string[] = []
  const provider = defineProvider({
    name: 'scripted',
    generateContent(call: Call<GenerateContentRequest>) {
      sent.push(Buffer.from(call.json({})).toString('utf8'))
      return { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }
    },
  })
  const { url } = await hostedWith({ models: { m: provider } })
  const signature = Buffer.from('mh1.*.{"before":[]}').toString('base64')
  const call = `{"functionCall":{"name":"find","args":{"id":${large}}},"thoughtSignature":"${signature}"}`
  await fetch(`${url}/v1beta/models/m:generateContent`, {
    method: 'POST',
    headers,
    body: `{"contents":[{"role":"user","parts":[{"text":"Find it."}]},{"role":"model","parts":[${call}]},{"role":"user","parts":[{"functionResponse":{"name":"find","response":{"id":${large}}}}]}]}`,
  })
  expect(sent[0]).not.toContain(signature)
  expect(sent[0]?.split(`{"id":${large}}`)).toHaveLength(3)
})

test('a result in a batch whose thinking is sealed keeps every digit', () => {
  const data = {
    attempt: 'req_1',
    lines: [{ id: 'a', m: 0, out: 1 }],
    models: [{ name: 'm', id: 'm', providerModel: 'kimi-k2' }],
  }
  const batch = { data } as unknown as StoredBatch
  const line = `{"custom_id":"req_1-0","result":{"type":"succeeded","message":${answer}}}`
  const result = resultIn(batch, Buffer.from(line))
  expect(result && clientLine(batch, result)).toContain(`"input":{"id":${large}}`)
})
