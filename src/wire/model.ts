/** A model as `GET /v1/models` lists it. */
export interface ModelObject {
  readonly id: string
  readonly object: 'model'
  /** Seconds since the epoch. */
  readonly created: number
  readonly owned_by: string
}
