/** Sends a chat to `POST /v1/messages`. */
import { cancellationOf } from '../../http/cancellation.ts'
import { readError, requireSuccess } from '../answer.ts'
import type { Client } from '../client.ts'
import type { Call } from '../contract.ts'
import type { Transfer } from '../transfer.ts'
import { serialize } from '../turns.ts'
import { vendorError } from '../vendor-error.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { readFault } from '../messages/fault.ts'
import { requestFor, type RequestOptions } from './request.ts'

/** A response of the vendor, and how to read it. */
export interface Asked {
  readonly transfer: Transfer
  /** The tool whose input is the structured response, if there is one. */
  readonly answerTool: string | undefined
}

/**
 * Sends the request, and resends it without the thinking of earlier responses if the vendor rejects that. Its signatures
 * are bound to the organisation, and for newer models to everything before them, which the client may have shortened.
 */
export async function ask(client: Client, call: Call<ChatRequest>, options: RequestOptions): Promise<Asked> {
  const { body, answerTool, hasThinking } = requestFor(call, options)
  const transfer = await send(client, call, body)
  if (transfer.status !== 400 || !hasThinking) {
    await requireSuccess(transfer, call, readFault)
    return { transfer, answerTool }
  }
  const error = await readError(transfer)
  if (!isAboutThinking(error)) {
    throw vendorError(readFault({ status: 400, error, openModel: call.openModel, sent: call.field }))
  }
  const second = requestFor(call, options, false)
  const repeated = await send(client, call, second.body)
  await requireSuccess(repeated, call, readFault)
  return { transfer: repeated, answerTool: second.answerTool }
}

async function send(client: Client, call: Call<ChatRequest>, body: object): Promise<Transfer> {
  return client.send({
    path: '/messages',
    body: await serialize(call, body),
    headers: { 'content-type': 'application/json' },
    added: call.headers,
    signal: cancellationOf(call),
    sent: call.sent,
  })
}

/** Whether an error is about a thinking block, as in "messages.1.content.0: Invalid `signature` in `thinking` block". */
function isAboutThinking(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown }
  return typeof message === 'string' && /\bmessages\.\d/.test(message) && /thinking|signature/i.test(message)
}
