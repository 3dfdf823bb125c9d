/** What the vendor of the provider kit is asked and says. */
import type { Script, ScriptedCall } from '../dialects/dialect.ts'

/** What no client may ever see. */
export const secret = 'vendor-secret-7f3a'

export const world = 'Grüße, 世界 👩‍👩‍👧‍👦 — "quoted" \\ and\nbroken'

export const calls: readonly ScriptedCall[] = [
  { id: 'call_1', name: 'weather', input: { city: 'Zürich ☔', days: [1, 2], deep: { a: null } } },
  { id: 'call_2', name: 'weather', input: { city: 'Oslo' } },
]

/** As little as can be cut in all the wrong places. */
export const little: Script = { text: 'é', calls: [{ id: 'call_1', name: 'f', input: { q: '☔' } }] }

/** A question with nothing special about it. */
export const question: { readonly messages: readonly object[] } = { messages: [{ role: 'user', content: 'Hello' }] }

/** What a model can say at once. */
export function everything(reasoning: boolean): Script {
  return { ...(reasoning && { reasoning: 'Hm…☁' }), text: 'ü👩‍👧', calls }
}

/** Instructions, pictures, parallel calls with their results, and a new question. */
export function conversation(images: readonly string[]): object {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const shown = images.map((data) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }))
  return {
    tools: [
      { type: 'function', function: { name: 'weather', parameters } },
      { type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } },
    ],
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Where is this?' }, ...shown] },
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

/** The conversation as every vendor must understand it. */
export function understood(images: readonly string[]): object {
  const nothing = { images: [], calls: [], results: [] }
  return {
    instructions: 'Be kind.\n\nBe brief.',
    tools: ['weather', 'now'],
    turns: [
      { role: 'user', text: 'Where is this?', ...nothing, images },
      { role: 'assistant', text: 'Let me see.', ...nothing, calls: calls.map(({ name, input }) => ({ name, input })) },
      {
        role: 'user',
        text: 'Well?',
        ...nothing,
        results: [
          { name: 'weather', text: 'sunny' },
          { name: 'weather', text: 'warm 🌞' },
        ],
      },
    ],
  }
}
