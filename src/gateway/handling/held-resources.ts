import type { Entry } from '../../admission/entry.ts'
import type { OpenForm } from '../../http/form.ts'
import type { Attempt } from '../../admission/idempotency/claim.ts'

/** What a request holds until its response has ended: a place in the limits, an uploaded form, an idempotency key. */
export class HeldResources {
  entry: Entry | undefined
  form: OpenForm | undefined
  attempt: Attempt | undefined

  /** For a request that ends without a response of a model. */
  release(): void {
    this.entry?.leave()
    this.form?.dispose()
  }
}
