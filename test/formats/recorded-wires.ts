/** The wire formats as the recordings have them. */
import { parseJson } from '../../src/conversation/json.ts'
import { chat } from '../../src/formats/chat/chat.ts'
import type { Asked, Format } from '../../src/formats/format.ts'
import { gemini } from '../../src/formats/gemini/gemini.ts'
import { messages } from '../../src/formats/messages/messages.ts'
import { responses } from '../../src/formats/responses/responses.ts'
import { bytesOf, type Recording } from '../providers/recordings.ts'
import { everything } from './chat/traits.ts'
import { asked } from './laws.ts'
import * as recorded from './recorded.ts'
import type { Json } from './recorded.ts'

export interface Wire {
  // oxlint-disable-next-line typescript/no-explicit-any -- each has its own traits
  readonly format: Format<any>
  readonly maker: string
  readonly traits: object
  /** Objects of a request, of an answer and of an event that may have fields that nobody knows. */
  readonly request: readonly string[]
  readonly answer: readonly string[]
  readonly event: readonly string[]
  /** The answer in its events. */
  readonly whole: (events: readonly Json[]) => Json
  /** Places in requests and answers that are written in another way with the same meaning. */
  readonly same: readonly RegExp[]
  readonly asked: (body: Json) => Asked
  /** A request with the names of fields as they are written. */
  readonly plain?: (body: Json) => Json
}

const named = ({ id, model, created = 1 }: Json): Asked => ({ ...asked, id, model, created })

/** Defaults that are left out. */
const plain = /^(?:stream: false|tool_choice: "auto")/

export const wires: Readonly<Record<string, Wire>> = {
  'openai.chat': {
    format: chat,
    maker: 'maker',
    traits: everything,
    request: ['', 'messages.*', 'messages.*.content.*', 'messages.*.tool_calls.*', 'tools.*', 'tools.*.function'],
    answer: ['', 'choices.*', 'choices.*.message', 'choices.*.message.tool_calls.*'],
    event: ['', 'choices.*'],
    whole: recorded.chatIn,
    asked: named,
    same: [
      // What some vendors leave out or write in their own way, and the schema requires.
      /^choices\.\d+\.(?:finish_reason|message\.tool_calls\.\d+\.(?:id|type)): undefined/,
      /\.index: .* became undefined/,
      /^usage\.(?:completion_tokens|prompt_tokens_details):/,
      /^obfuscation/,
      // Google's signatures, as clients send them back.
      /message\.extra_content: .* became undefined|message\.reasoning_details: undefined became/,
      // Mistral's thinking in the content.
      /message\.content: .*"thinking"|message\.reasoning_content: undefined became/,
      // Sources beside the answer are citations too.
      /message\.annotations: undefined became/,
      plain,
    ],
  },
  'openai.responses': {
    format: responses,
    maker: 'responses',
    traits: {},
    request: ['', 'input.*', 'input.*.content.*', 'tools.*'],
    answer: ['', 'output.*', 'output.*.content.*'],
    event: ['response', 'response.output.*', 'item'],
    whole: recorded.responseIn,
    asked: ({ id, model, created_at: created, ...repeated }) => ({ ...asked, id, model, created, repeated }),
    same: [
      // Messages of one text.
      /^input\.\d+\.(?:type|content): .*"(?:message|input_text)"/,
      /^output\.\d+\.(?:id|status):/,
      // State is sent back to its maker only.
      /^output\.\d+\.encrypted_content: .* became "mh1\./,
      /^usage\.(?:server_tool_use|input_tokens_details\.cache_write_tokens): undefined/,
      /^tools\.\d+\.strict: undefined became false/,
      plain,
    ],
  },
  'anthropic.messages': {
    format: messages,
    maker: 'anthropic',
    traits: { systemAnywhere: true },
    request: ['', 'messages.*', 'messages.*.content.*', 'system.*', 'tools.*'],
    answer: ['', 'content.*'],
    event: ['message', 'content_block', 'delta'],
    whole: recorded.messageIn,
    asked: named,
    same: [
      /^content\.\d+\.caller: undefined became \{"type":"direct"\}/,
      // Counters that clients require.
      /^usage\..*undefined became (?:0|\{(?:"\w+":0,?)+\})$/,
      /is_error: false/,
      plain,
    ],
  },
  'gemini.generateContent': {
    format: gemini,
    maker: 'google',
    traits: {},
    request: ['', 'contents.*', 'contents.*.parts.*', 'tools.*.functionDeclarations.*', 'generationConfig'],
    answer: ['', 'candidates.*', 'candidates.*.content.parts.*'],
    event: ['', 'candidates.*', 'candidates.*.content.parts.*'],
    whole: recorded.contentIn,
    asked: ({ responseId: id, modelVersion: model }) => ({ ...asked, id, model }),
    // Google takes both ways of writing names.
    plain: (body) =>
      JSON.parse(
        JSON.stringify(body).replaceAll(/"\w+":/g, (name) =>
          name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
        ),
      ),
    same: [
      /\.index: undefined became 0/,
      /^(?:systemInstruction|candidates\.\d+\.content)\.role: |content: undefined became \{"role":"model"\}/,
      // Of a prompt that was blocked, nothing is counted.
      /^usageMetadata: \{"trafficType":"ON_DEMAND"\} became undefined/,
      /functionCall\.id: undefined/,
      // The functions that are not allowed are left out instead.
      /allowedFunctionNames/,
      /logprobsResult\..*tokenId/,
      plain,
    ],
  },
}

/** Undefined for what is no answer to a conversation. */
export function wireOf({ wire }: Recording): Wire | undefined {
  return wires[wire.replace('streamGenerate', 'generate')]
}

/** The events of a recorded stream. */
export function eventsIn(recording: Recording): Json[] {
  const lines = bytesOf(recording)
    .toString()
    .matchAll(/^data: ?(\{.*\})\s*$/gm)
  return Array.from(lines, ([, data = '']) => parseJson(data))
}
