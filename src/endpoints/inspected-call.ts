/** Asking a provider for an endpoint, with what inspectors let pass. */
import type { OpenForm } from '../http/form.ts'
import type { Inspection } from '../inspect/inspection.ts'
import type { Call, Provider } from '../providers/contract.ts'
import type { CallEndpoint, Context } from './endpoint.ts'
import { amend } from './order.ts'

/** Conversations are inspected where they are read. */
export function ask<Request, Answer>(
  endpoint: CallEndpoint<Request, Answer>,
  provider: Provider,
  call: Call<Request>,
  context: Context<Request>,
): Promise<Answer> {
  const { inspection, order } = context
  const { texts } = endpoint
  if (inspection === undefined || texts === undefined) return endpoint.ask(provider, call, context)
  return inspected(inspection, texts, call, order.form).then((own) => endpoint.ask(provider, own, context))
}

/** The call with those texts in its fields that inspectors let pass. Rejects with their refusal. */
async function inspected<Request>(
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
