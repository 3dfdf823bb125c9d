/** Reads the parts of an HTTP response that are the same for all vendors: the status, and a JSON body. */
import { countOf, fieldsOf } from '../wire/json.ts'
import type { StructureCheck } from './answer-bounds.ts'
import { Verbatim, type Call } from './contract.ts'
import { unreadable } from './failure.ts'
import type { Transfer } from './transfer.ts'
import { WholeBody } from './whole-body.ts'
import { saysUnsupported, vendorError, waitOf, type FaultReader } from './vendor-error.ts'

/** Whether the vendor accepted the request. */
export function hasSucceeded({ status }: Transfer): boolean {
  return status === 200 || status === 201
}

/** Throws a `ProviderError` for every status but 200 and 201. Without `read`, the error must be in OpenAI's format. */
export async function requireSuccess(
  transfer: Transfer,
  call?: Pick<Call<unknown>, 'openModel' | 'field'>,
  read?: FaultReader,
): Promise<void> {
  if (hasSucceeded(transfer)) return
  const { status } = transfer
  const waitMs = waitOf((name) => transfer.header(name))
  if (status < 400) throw transfer.fail(unreadable(`the vendor answered ${status}`, 'next'))
  const error = await readError(transfer)
  const fault = {
    status,
    error,
    unsupported: saysUnsupported(error),
    waitMs,
    openModel: call?.openModel ?? false,
    sent: call?.field,
  }
  throw vendorError(read?.(fault) ?? fault)
}

/** Throws for text in the place of a file, such as a page of a proxy. */
export function requireFile(transfer: Transfer): void {
  if (!/^(?:text\/|application\/(?:json|xml|xhtml))/i.test(transfer.contentType ?? '')) return
  throw transfer.fail(unreadable("the vendor's response is not a file"))
}

/**
 * The error in a response's JSON body, which is read once; undefined if the body is not JSON, too large, or does not arrive within
 * 5 s.
 */
export function readError(transfer: Transfer): Promise<unknown> {
  return (transfer.error ??= errorIn(transfer))
}

async function errorIn(transfer: Transfer): Promise<unknown> {
  try {
    const body: unknown = JSON.parse(bodyText(await transfer.read(new WholeBody(64 * 1024), 5_000)))
    // Google wraps the error in a list if the request was for a stream.
    const first = (Array.isArray(body) ? body[0] : body) as { error?: unknown } | null
    return first?.error ?? first
  } catch {
    return undefined
  }
}

/** The body as a JSON object, with the text it was parsed from. Throws if it exceeds the bounds of `Structure`. */
export function readJsonObject(transfer: Transfer, maxBytes: number): Verbatim<object> | Promise<Verbatim<object>> {
  const { body } = transfer
  return body === undefined ? transfer.read(new WholeBody(maxBytes)).then(verbatimObject) : verbatimObject(body)
}

function verbatimObject(body: WholeBody): Verbatim<object> {
  const bytes = withoutMark(body.bytes)
  return new Verbatim(readObject(bytes), bytes)
}

/** The body as JSON text without a byte order mark, checked while it arrives. */
export async function readBounded(transfer: Transfer, maxBytes: number): Promise<Buffer> {
  return withoutMark((transfer.body ?? (await transfer.read(new WholeBody(maxBytes)))).bytes)
}

/** The body as it arrived. `check`: default the usual bounds. */
export async function readWhole(transfer: Transfer, maxBytes: number, check?: StructureCheck): Promise<WholeBody> {
  return transfer.body ?? transfer.read(new WholeBody(maxBytes, check))
}

/** Removes a byte order mark. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

function bodyText(body: WholeBody): string {
  return withoutMark(body.bytes).toString('utf8')
}

/** Throws if the text is not a JSON object or array. */
export function readObject(bytes: Buffer): object {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw unreadable("the vendor's response is not JSON")
  }
  if (typeof value !== 'object' || value === null) {
    throw unreadable("the vendor's response is not a JSON object")
  }
  return value
}

/** The count in a field of a vendor's answer. Throws if there is none. */
export async function readCount(transfer: Transfer, maxBytes: number, field: string): Promise<number> {
  const count = countOf(fieldsOf((await readJsonObject(transfer, maxBytes)).value)[field])
  if (count !== undefined) return count
  throw unreadable("the vendor's response has no count of tokens")
}
