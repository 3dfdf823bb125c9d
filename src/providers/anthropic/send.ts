/** Sends a chat to `POST /v1/messages`, or only for its count. */
import { cancellationOf } from '../../http/cancellation.ts'
import { readError, requireSuccess } from '../answer.ts'
import { readInputTokens } from '../answer.ts'
import type { Client } from '../client.ts'
import type { Call } from '../contract.ts'
import type { Transfer } from '../transfer.ts'
import { serialize } from '../yielding.ts'
import { vendorError } from '../vendor-error.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { readFault } from '../messages/fault.ts'
import { requestFor, type MessagesRequest, type RequestOptions } from './request.ts'

/** A response of the vendor, and how to read it. */
export interface SentChat {
  readonly transfer: Transfer
  /** The tool whose input is the structured response, if there is one. */
  readonly answerTool: string | undefined
}

/** An endpoint of the vendor. */
interface Target {
  readonly path: string
  /** The fields of a request for an answer that it accepts. Default: all. */
  readonly fields?: readonly string[]
}

const answering: Target = { path: '/messages' }

/** Source: Anthropic's API reference, Count tokens in a message. */
const counting: Target = {
  path: '/messages/count_tokens',
  fields: [
    'cache_control',
    'context_management',
    'mcp_servers',
    'messages',
    'model',
    'output_config',
    'speed',
    'system',
    'thinking',
    'tool_choice',
    'tools',
  ],
}

/** The input tokens of a chat. */
export async function countChat(client: Client, call: Call<ChatRequest>, options: RequestOptions): Promise<number> {
  const { transfer } = await send(client, call, options, counting)
  return readInputTokens(transfer, client.answerBytes)
}

/**
 * Sends the request, and resends it without the thinking of earlier responses if the vendor rejects that. Its signatures
 * are bound to the organisation, and for newer models to everything before them, which the client may have shortened.
 */
export async function send(
  client: Client,
  call: Call<ChatRequest>,
  options: RequestOptions,
  target: Target = answering,
): Promise<SentChat> {
  const { body, answerTool, hasThinking } = requestFor(call, options)
  const transfer = await post(client, call, body, target)
  if (transfer.status !== 400 || !hasThinking) {
    await requireSuccess(transfer, call, readFault)
    return { transfer, answerTool }
  }
  const error = await readError(transfer)
  if (!isAboutThinking(error)) {
    throw vendorError(readFault({ status: 400, error, openModel: call.openModel, sent: call.field }))
  }
  const second = requestFor(call, options, false)
  const repeated = await post(client, call, second.body, target)
  await requireSuccess(repeated, call, readFault)
  return { transfer: repeated, answerTool: second.answerTool }
}

async function post(
  client: Client,
  call: Call<ChatRequest>,
  body: MessagesRequest['body'],
  { path, fields }: Target,
): Promise<Transfer> {
  return client.send({
    path,
    body: await serialize(call, fields === undefined ? body : only(fields, body)),
    headers: { 'content-type': 'application/json' },
    added: call.headers,
    signal: cancellationOf(call),
    sent: call.sent,
  })
}

function only(fields: readonly string[], body: MessagesRequest['body']): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)))
}

/** Whether an error is about a thinking block, as in "messages.1.content.0: Invalid `signature` in `thinking` block". */
function isAboutThinking(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown }
  return typeof message === 'string' && /\bmessages\.\d/.test(message) && /thinking|signature/i.test(message)
}
