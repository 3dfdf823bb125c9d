import { amendForm, prefixForm } from '../http/form.ts'
import type { Deployment, Model } from '../models/contract.ts'
import { passesLate } from '../models/cost-guard.ts'
import type { Call } from '../providers/contract.ts'
import { amend, overlaid } from './order.ts'

/** The call with the fields that the host has set, and with a check of form fields that arrive after routing. */
export function fitted<R>(call: Call<R>, endpoint: string, model: Model, deployment: Deployment): Call<R> {
  const fixed =
    deployment.set === undefined && model.set === undefined ? undefined : { ...deployment.set, ...model.set }
  const { form } = call
  if (form === undefined) return fixed === undefined ? call : overlaid(amend(call, fixed), { fixed })
  const checked = amendForm(form, (name, value) => (passesLate(endpoint, name, value, model) ? value : undefined))
  return overlaid(fixed === undefined ? call : amend(call, fixed), {
    form: fixed === undefined ? checked : prefixForm(checked, fixed),
  })
}
