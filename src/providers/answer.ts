/** What every vendor's HTTP answer has in common: a status, and a body of JSON that may be something else. */
import { Structure, vectorBounds, type StructureBounds } from './answer-bounds.ts'
import { Verbatim, type Call } from './contract.ts'
import { retrySame, tryNext } from './failure.ts'
import type { Transfer } from './transfer.ts'
import { saysUnsupported, vendorError, waitOf, type VendorFault } from './vendor-error.ts'

/** How a vendor's own error becomes one in OpenAI's words. Default: it is one already. */
export type FaultReader = (fault: VendorFault) => VendorFault

/** Throws for every status that is no answer. */
export async function requireSuccess(
  transfer: Transfer,
  call?: Pick<Call<unknown>, 'openModel' | 'field'>,
  read?: FaultReader,
): Promise<void> {
  const { status } = transfer
  if (status === 200 || status === 201) return
  const waitMs = waitOf((name) => transfer.header(name))
  if (status < 400) throw transfer.fail(tryNext(new Error(`the vendor answered ${status}`)))
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

/** What a refusal says, as far as it can be read; a page of HTML, or one that does not come, says nothing. */
export async function readError(transfer: Transfer): Promise<unknown> {
  try {
    const body: unknown = JSON.parse(textOf(await transfer.bytes(64 * 1024, { withinMs: 5_000 })))
    // Google puts it into a list where it would have streamed.
    const said = (Array.isArray(body) ? body[0] : body) as { error?: unknown } | null
    return said?.error ?? said
  } catch {
    return undefined
  }
}

/** The body as a JSON object, with the text it was parsed from. Throws where it has more structure than an answer may. */
export async function readJsonObject(transfer: Transfer, maxBytes: number): Promise<Verbatim<object>> {
  const bytes = await readBounded(transfer, maxBytes)
  return new Verbatim(readObject(bytes), bytes)
}

/** The body as JSON text without a byte order mark, looked through as it arrives. */
export async function readBounded(transfer: Transfer, maxBytes: number, bounds?: StructureBounds): Promise<Buffer> {
  const structure = new Structure(bounds)
  return withoutMark(await transfer.bytes(maxBytes, { each: (piece) => structure.add(piece) }))
}

export function readVectors(transfer: Transfer, maxBytes: number): Promise<Buffer> {
  return readBounded(transfer, maxBytes, vectorBounds)
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

function textOf(bytes: Buffer): string {
  return withoutMark(bytes).toString('utf8')
}

/** Throws where the text is no JSON object. */
export function readObject(bytes: Buffer): object {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw retrySame(new Error('the vendor answered with something else than JSON'))
  }
  if (typeof value !== 'object' || value === null) throw retrySame(new Error('the vendor answered with no object'))
  return value
}
