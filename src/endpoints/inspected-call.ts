import type { OpenForm } from '../http/form.ts'
import type { Inspection } from '../inspect/inspection.ts'
import type { Call } from '../providers/contract.ts'
import { amend } from './order.ts'

/** The call with those texts in its fields that inspectors let pass. Rejects with their refusal. */
export async function inspectedCall<Request>(
  inspection: Inspection,
  names: readonly string[],
  call: Call<Request>,
  form: OpenForm | undefined,
): Promise<Call<Request>> {
  // Fields may follow the files.
  await form?.keep()
  const given = Object.fromEntries(names.map((name) => [name, call.field(name)]))
  const passed = await inspection.askedTexts(given)
  return passed === given ? call : amend(call, passed)
}
