import { amendForm, prefixForm } from '../http/form.ts'
import type { Deployment, Model } from '../models/contract.ts'
import { passesLate } from '../models/cost-guard.ts'
import type { Call } from '../providers/contract.ts'
import type { Admitted } from './admitted.ts'
import { amend, callFor, overlaid, type CallHead } from './order.ts'

/** The call of a request at a deployment. */
export function callOf<R>(
  endpoint: string,
  { id, order, model, caller, conversation }: Pick<Admitted<R>, 'id' | 'order' | 'model' | 'caller' | 'conversation'>,
  deployment: Deployment,
  {
    meter,
    cancellation,
    answered,
    headers,
  }: Pick<CallHead, 'cancellation' | 'answered' | 'headers'> & {
    readonly meter: { sent(share?: number): void; vendorDollars?: number | undefined }
  },
): Call<R> {
  const { price = deployment.price, maxOutputTokens } = model
  const head = {
    cancellation,
    answered,
    headers,
    id,
    model: deployment.model,
    openModel: deployment.open ?? false,
    maxOutputTokens,
    sent: (share?: number) => meter.sent(share),
    // Absent for most vendors, so that nothing is made for them.
    costs:
      deployment.provider.reportsCosts === true && deployment.hasOwnKey !== true
        ? (dollars: number) => (meter.vendorDollars = dollars)
        : undefined,
    account: caller.account,
    conversation: conversation?.id,
    promptCacheKey: conversation?.promptCacheKey,
    pricesCache: price?.hasCacheRates,
  }
  return fitted(callFor(order, head), endpoint, model, deployment)
}

/** The call with the fields that the host has set, and with a check of form fields that arrive after routing. */
function fitted<R>(call: Call<R>, endpoint: string, model: Model, deployment: Deployment): Call<R> {
  const fixed =
    deployment.set === undefined && model.set === undefined ? undefined : { ...deployment.set, ...model.set }
  const { form } = call
  if (form === undefined) return fixed === undefined ? call : overlaid(amend(call, fixed), { fixed })
  const checked = amendForm(form, (name, value) => (passesLate(endpoint, name, value, model) ? value : undefined))
  return overlaid(fixed === undefined ? call : amend(call, fixed), {
    form: fixed === undefined ? checked : prefixForm(checked, fixed),
  })
}
