/** Requests and responses that the provider suite uses. */
import type { Script, ScriptedCall } from '../dialects/dialect.ts'

/** A text in vendors' errors that no client may see. */
export const secret = 'vendor-secret-7f3a'

export const unicodeText = 'Grüße, 世界 👩‍👩‍👧‍👦 — "quoted" \\ and\nbroken'

export const calls: readonly ScriptedCall[] = [
  { id: 'call_1', name: 'weather', input: { city: 'Zürich ☔', days: [1, 2], deep: { a: null } } },
  { id: 'call_2', name: 'weather', input: { city: 'Oslo' } },
]

/** Short enough to cut its stream at every byte, with characters of several bytes. */
export const shortScript: Script = { text: 'é', calls: [{ id: 'call_1', name: 'f', input: { q: '☔' } }] }

/** A plain chat request. */
export const plainRequest: { readonly messages: readonly object[] } = { messages: [{ role: 'user', content: 'Hello' }] }

/** A response with text, tool calls and, if the provider supports it, reasoning. */
export function fullScript(reasoning: boolean): Script {
  return { ...(reasoning && { reasoning: 'Hm…☁' }), text: 'ü👩‍👧', calls }
}

/** A chat request with instructions, images, parallel calls with their results, and a follow-up question. */
export function conversation(images: readonly string[]): object {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const imageParts = images.map((data) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }))
  return {
    tools: [
      { type: 'function', function: { name: 'weather', parameters } },
      { type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } },
    ],
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Where is this?' }, ...imageParts] },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: calls.map(({ id, name, input }) => {
          return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
        }),
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'call_2', content: 'warm 🌞' },
      { role: 'user', content: 'Well?' },
    ],
  }
}

/** `conversation` as every vendor must understand it. */
export function parsedConversation(images: readonly string[]): object {
  const none = { images: [], calls: [], results: [] }
  return {
    instructions: 'Be kind.\n\nBe brief.',
    tools: ['weather', 'now'],
    turns: [
      { role: 'user', text: 'Where is this?', ...none, images },
      { role: 'assistant', text: 'Let me see.', ...none, calls: calls.map(({ name, input }) => ({ name, input })) },
      {
        role: 'user',
        text: 'Well?',
        ...none,
        results: [
          { name: 'weather', text: 'sunny' },
          { name: 'weather', text: 'warm 🌞' },
        ],
      },
    ],
  }
}
