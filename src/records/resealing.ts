/** The result of sealing anew with the first secret of an option. */
export interface Resealed {
  /** Number of keys that were sealed anew. */
  readonly resealed: number
  /** Number of keys that none of the secrets opens. */
  readonly unreadable: number
}

/**
 * Seals all keys of a store anew. `pageAfter`: some keys behind one, or the first ones. `renewed`: see `Sealing`. `reseal`: the method of
 * the store.
 */
export async function resealAll<Key extends { readonly sealed: string }>(
  pageAfter: (last: Key | undefined) => Promise<readonly Key[]> | readonly Key[],
  renewed: (key: Key) => string | undefined,
  reseal: (key: Key, before: string) => Promise<boolean> | boolean,
): Promise<Resealed> {
  let [resealed, unreadable] = [0, 0]
  for (let page = await pageAfter(undefined); page.length > 0; page = await pageAfter(page.at(-1))) {
    for (const key of page) {
      let sealed: string | undefined
      try {
        sealed = renewed(key)
      } catch {
        unreadable++
        continue
      }
      if (sealed !== undefined && (await reseal({ ...key, sealed }, key.sealed))) resealed++
    }
  }
  return { resealed, unreadable }
}
