/** A model in the response of `GET /v1/models`. */
export interface ModelObject {
  readonly id: string
  readonly object: 'model'
  /** Seconds since the epoch. */
  readonly created: number
  readonly owned_by: string
}
