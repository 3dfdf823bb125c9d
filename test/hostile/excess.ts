/** The hostile vendor's responses, in the format of each model. */
import { tooMuch, type Excess } from '../providers/faults/too-much.ts'

const json = 'application/json'
const events = 'text/event-stream'

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', usage: {} }
const claude = (content: string) => JSON.stringify({ ...message, content: '#' }).replace('"#"', content)
const gemini = (parts: string) =>
  `{"responseId":"1","candidates":[{"content":{"parts":${parts}},"finishReason":"STOP"}]}`
const response = (output: string) =>
  `{"id":"resp_1","object":"response","status":"completed","model":"m","output":${output}}`

const deep = `${'[{"a":'.repeat(5_000)}1${'}]'.repeat(5_000)}`
const list = (count: number, item: string) => `[${`${item},`.repeat(count - 1)}${item}]`
const text = '{"type":"text","text":"x"}'
const call = '{"type":"tool_use","id":"toolu_1","name":"f","input":{}}'
const path = `$${'.a'.repeat(50_000)}`

/** By model name. */
export const excesses: Readonly<Record<string, readonly Excess[]>> = {
  'hostile-openai': tooMuch,
  'hostile-claude': [
    { name: '100,000 blocks', type: json, body: claude(list(100_000, text)) },
    { name: '20,000 calls', type: json, body: claude(list(20_000, call)) },
    { name: 'a deep input', type: json, body: claude(`[{"type":"tool_use","id":"1","name":"f","input":${deep}}]`) },
    { name: 'content that is a text', type: json, body: claude('"x"') },
    { name: 'a block that is none', type: json, body: claude('[null,1,"x",[]]') },
    { name: '100,000 lines', type: events, body: `${'data: x\n'.repeat(100_000)}\n` },
    { name: 'a deep event', type: events, body: `data: {"type":"message_start","message":{"id":"1","x":${deep}}}\n\n` },
  ],
  'hostile-gemini': [
    { name: '100,000 parts', type: json, body: gemini(list(100_000, '{"text":"x"}')) },
    { name: '20,000 calls', type: json, body: gemini(list(20_000, '{"functionCall":{"name":"f","args":{}}}')) },
    { name: 'deep arguments', type: json, body: gemini(`[{"functionCall":{"name":"f","args":{"a":${deep}}}}]`) },
    { name: 'parts that are a text', type: json, body: gemini('"x"') },
    { name: 'a deep event', type: events, body: `data: {"candidates":[],"x":${deep}}\n\n` },
    {
      name: 'a long path of arguments',
      type: events,
      body: `data: ${gemini(`[{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"${path}","stringValue":"x"}],"willContinue":true}}]`)}\n\n`,
    },
  ],
  'hostile-responses': [
    { name: '100,000 items', type: json, body: response(list(100_000, '{"type":"message","id":"1","content":[]}')) },
    { name: 'a deep item', type: json, body: response(`[{"type":"x","id":"1","x":${deep}}]`) },
    { name: 'output that is a text', type: json, body: response('"x"') },
    { name: 'output of nothing', type: json, body: response('[null]') },
    { name: 'a deep event', type: events, body: `data: {"type":"response.created","response":{"x":${deep}}}\n\n` },
    { name: '100,000 lines', type: events, body: `${'data: x\n'.repeat(100_000)}\n` },
  ],
}

export const pathOf = (model: string): string =>
  model === 'hostile-responses' ? '/v1/responses' : '/v1/chat/completions'
