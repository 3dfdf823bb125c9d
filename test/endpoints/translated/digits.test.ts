/** Large integers in the input of tools, through another wire format and back. */
import { defineProvider, Verbatim, type Call } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import type { Message, MessageRequest } from '../../../src/wire/messages.ts'
import { hostedWith } from '../../hosted.ts'

const large = '1234567890123456789'

const answer = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{"id":${large}}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`

test('a chat keeps every digit toward a vendor with Messages, and of its answer', async () => {
  const sent: string[] = []
  const provider = defineProvider({
    name: 'scripted',
    message(call: Call<MessageRequest>) {
      sent.push(Buffer.from(call.json({})).toString('utf8'))
      return new Verbatim(JSON.parse(answer) as Message, Buffer.from(answer))
    },
  })
  const { url } = await hostedWith({ models: { m: provider } })
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
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
