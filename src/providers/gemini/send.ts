/** Sends a chat to a method of the model. */
import { readError, requireSuccess } from '../answer.ts'
import type { Call } from '../contract.ts'
import type { Transfer } from '../transfer.ts'
import { vendorError } from '../vendor-error.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { readFault } from './fault.ts'
import { requestFor, type GenerateRequest, type RequestOptions } from './request.ts'
import type { Vendor } from './vendor.ts'

/** A response of the vendor, and how to read it. */
export interface SentChat extends Pick<GenerateRequest, 'answerTool' | 'single' | 'names'> {
  readonly transfer: Transfer
}

/** A method of the model. */
export interface Target {
  readonly method: (call: Pick<Call<unknown>, 'stream'>) => string
  /** Its request, for that of an answer. */
  readonly body: (body: GenerateRequest['body']) => object
}

const generating: Target = {
  method: ({ stream }) => (stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
  body: (body) => body,
}

/**
 * Sends the request, and resends it without the signatures of earlier responses if the vendor rejects one: it accepts
 * them only for a time, and not from every other model or service of its own.
 */
export async function send(
  vendor: Vendor,
  call: Call<ChatRequest>,
  options: RequestOptions,
  target: Target = generating,
): Promise<SentChat> {
  const method = target.method(call)
  const { body, hasSignatures, ...reading } = requestFor(call, options)
  const transfer = await vendor.send(call, method, target.body(body))
  if (transfer.status !== 400 || !hasSignatures) {
    await requireSuccess(transfer, call, readFault)
    return { transfer, ...reading }
  }
  const error = await readError(transfer)
  if (!isAboutSignature(error)) {
    throw vendorError(readFault({ status: 400, error, openModel: call.openModel, sent: call.field }))
  }
  const second = requestFor(call, options, false)
  return { transfer: await vendor.post(call, method, target.body(second.body)), ...reading }
}

/** Whether an error is about a signature, as in "Corrupted thought signature." */
function isAboutSignature(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown }
  return typeof message === 'string' && /thought.?signature/i.test(message)
}
