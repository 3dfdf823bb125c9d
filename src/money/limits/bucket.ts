/** Names of buckets, from which a store can tell whose they are. */

/** The name of a bucket that only `account` draws from. */
export function ownedBy(account: string, name: string): string {
  return `account ${JSON.stringify(account)} ${name}`
}

const owned = /^account ("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*") /

/**
 * The account that alone draws from a bucket; undefined if several accounts share it. A store that is spread over several
 * nodes can keep the buckets of an account next to its balance, so that most claims need one node only.
 */
export function accountOf(bucket: string): string | undefined {
  const quoted = owned.exec(bucket)?.[1]
  return quoted === undefined ? undefined : (JSON.parse(quoted) as string)
}
