import type { ContentTraits } from '../../providers/content-traits.ts'

/** Whether a request is for a certain model, and not for the format as such. */
export function isForModel({ thinking }: ContentTraits): boolean {
  return thinking !== undefined
}
