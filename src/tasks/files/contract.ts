/**
 * Where the contents of files are kept, such as the input and the output of batches: up to 200 MB each, read and written as
 * streams. All processes must share it. The gateway chooses the names, and deletes what nobody needs any more.
 * `testFileStorage` of `modelhatch/testing` tests an implementation against this contract.
 */
export interface FileStorage {
  /**
   * Required. Keeps the bytes under a name of letters, digits, `_` and `-`, at most 80 characters, in place of what it has. Reads
   * `bytes` as fast as it can write. Until it resolves, and if it rejects, the name has what it had before: a reader never gets a part.
   * Rejects if `bytes` does.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /** Required. The bytes under a name, in pieces; undefined if there are none. */
  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Required. Deletes what is under a name, if there is anything. */
  delete(name: string): Promise<void>
  /** Optional. Releases its resources. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
