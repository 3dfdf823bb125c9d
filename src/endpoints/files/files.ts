/**
 * The files of batches: their contents are in the host's storage, and a task keeps what is known of each. A task that is due
 * deletes the contents of a file that has expired, or whose upload was broken off.
 */
import { GatewayError } from '../../errors.ts'
import type { StoredContent } from '../../tasks/files/stored-content.ts'
import { newTaskId } from '../../tasks/insert.ts'
import { changed, fromRecord, Tasks, toRecord, type Stored, type TaskKeeping } from '../../tasks/stored.ts'
import type { TaskRecord } from '../../tasks/contract.ts'
import type { SweeperOptions } from '../../tasks/sweeper.ts'

/** What is known of a file: the data of its task. */
export interface FileData {
  readonly filename: string
  readonly purpose: 'batch' | 'batch_output'
  /** Undefined while it is written. */
  readonly bytes?: number
}

export type StoredFile = Stored<FileData>

/** A file that is written. */
export interface NewFile extends Omit<FileData, 'bytes'> {
  readonly account: string
  /** Default: a new one. A file with this id that exists already is replaced. */
  readonly id?: string
}

export interface FileServices extends TaskKeeping {
  readonly content: StoredContent
  /** The most bytes that all files of an account may have. */
  readonly accountBytes: number
}

/** Milliseconds for which files are kept. */
const fileLifeMs = 30 * 86_400_000
/** Milliseconds after which a file that is not complete was broken off. */
const uploadMs = 86_400_000
const mostFiles = 1_000
const leaseMs = 60_000

/** The files of all accounts. */
export class Files extends Tasks<FileData> {
  readonly content: StoredContent
  readonly #services: FileServices

  constructor(services: FileServices, sweeping: SweeperOptions) {
    super(services, { noun: 'files', leaseMs, step: (file) => this.#expire(file), worker: () => 'files' }, sweeping)
    this.#services = services
    this.content = services.content
  }

  override async close(): Promise<void> {
    await super.close()
    await this.content.close()
  }

  /** Keeps a file. Rejects with the error of its bytes, if they fail, and keeps nothing of them then. */
  async add({ account, id: given, ...known }: NewFile, bytes: AsyncIterable<Uint8Array>): Promise<StoredFile> {
    const { store, now, content } = this.#services
    const id = given ?? newTaskId('file-')
    const at = await now()
    const times = { createdAt: at, expiresAt: at + fileLifeMs, dueAt: at + uploadMs, leasedUntil: 0 }
    const begun = fromRecord<FileData>(await store.insert({ account, id, version: 1, ...times, data: { ...known } }))
    let size = 0
    const counted = async function* () {
      for await (const piece of bytes) {
        size += piece.length
        yield piece
      }
    }
    try {
      await content.put(id, counted())
    } catch (error) {
      // Another process may have made a given one, or be about to.
      if (given === undefined) await this.#expire({ ...begun, expiresAt: at })
      throw error
    }
    const { expiresAt } = begun
    const file = changed(begun, { ...known, bytes: size }, { dueAt: expiresAt })
    if (await store.replace(toRecord(file))) return file
    // A repetition of the same work was faster.
    return this.find(account, id)
  }

  /** Rejects with a 400 if the account has no room for another file. */
  async requireRoom(account: string): Promise<void> {
    const { accountBytes } = this.#services
    const files = await this.#all(account)
    const used = files.reduce((sum, { data }) => sum + (data.bytes ?? 0), 0)
    if (files.length < mostFiles && used < accountBytes) return
    const message = `Your files take ${used} of ${accountBytes} bytes, and are ${files.length} of ${mostFiles}. Delete some of them.`
    throw new GatewayError('invalid_request_error', { message })
  }

  /** The account's file. Throws the same `not_found` for every reason. */
  async find(account: string, id: string): Promise<StoredFile> {
    const file = isFileId(id) ? await this.stored(account, id) : undefined
    if (file?.data.bytes === undefined) throw noSuchFile()
    return file
  }

  async read(file: StoredFile): Promise<AsyncIterable<Uint8Array>> {
    return this.content.get(file.id)
  }

  /** Deletes a file. Throws like `find`. */
  async remove(account: string, id: string): Promise<void> {
    const file = await this.find(account, id)
    await this.#expire({ ...file, expiresAt: await this.#services.now() })
  }

  /** Deletes every file of an account. */
  async removeAll(account: string): Promise<void> {
    await this.removeEach(account, (file) => this.discard(toRecord(file)))
  }

  protected override async discard(file: TaskRecord): Promise<void> {
    await this.#expire({ ...file, data: {}, expiresAt: await this.#services.now() })
  }

  async #all(account: string): Promise<StoredFile[]> {
    if (this.#services.store.list === undefined) return []
    return this.list(account, { limit: mostFiles, order: 'desc' })
  }

  /** Ends a file, and deletes its contents. May be repeated. */
  async #expire(file: Stored<Partial<FileData>>): Promise<void> {
    const { store, content, now } = this.#services
    const at = await now()
    const expiresAt = Math.min(file.expiresAt, at)
    // First it is found no more. If the contents cannot be deleted now, the task is due again.
    const ending = changed(file, {}, { expiresAt, dueAt: at, leasedUntil: at + leaseMs })
    if (!(await store.replace(toRecord(ending)))) return
    await content.delete(file.id)
    await store.replace(toRecord(changed(ending, {}, { dueAt: null, leasedUntil: 0 })))
  }
}

/** Whether a text can be the id of a file: stores fail on some texts. */
export function isFileId(id: string): boolean {
  return /^file-[A-Za-z0-9_-]{1,64}$/.test(id)
}

/** The same error for every file that is not found. */
export function noSuchFile(): GatewayError {
  const message = 'No such file. It does not exist, or it has expired after 30 days.'
  return new GatewayError('not_found', { message, param: 'id' })
}
