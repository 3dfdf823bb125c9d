/** The files that batches need. Source: OpenAI's API reference, Files. */
import { invalid, refusedField, refusedValue } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { byteStream } from '../../http/byte-stream.ts'
import { isFile } from '../../http/form.ts'
import { decodeSegment, queryOf } from '../../http/target.ts'
import { readForm } from '../../http/upload.ts'
import type { UploadedForm } from '../../http/uploaded-form.ts'
import { defineEndpoint } from '../define.ts'
import type { Query, QueryEndpoint } from '../endpoint.ts'
import { limitIn, orderIn, pageOf, placeIn } from '../paging.ts'
import { isFileId, noSuchFile, type Files, type StoredFile } from './files.ts'

/** Bytes of one file, as at OpenAI. */
const mostBytes = 200 * 1024 * 1024

/** The endpoints that exist with `batches.files`. */
export function fileEndpoints(files: Files): readonly QueryEndpoint[] {
  return [
    defineEndpoint({
      method: 'POST',
      path: '/v1/files',
      name: 'files.create',
      answer: async (query) => jsonReply(shape(await upload(query, files))),
    }),
    defineEndpoint({
      method: 'GET',
      path: '/v1/files',
      name: 'files.list',
      answer: async (query) => jsonReply(await listed(query, files)),
    }),
    defineEndpoint({
      method: 'GET',
      path: '/v1/files/*',
      name: 'files.retrieve',
      answer: async (query) => jsonReply(shape(await files.find(query.caller.account, idIn(query)))),
    }),
    defineEndpoint({
      method: 'DELETE',
      path: '/v1/files/*',
      name: 'files.delete',
      async answer(query) {
        const id = idIn(query)
        await files.remove(query.caller.account, id)
        return jsonReply({ id, object: 'file', deleted: true })
      },
    }),
    defineEndpoint({
      method: 'GET',
      path: '/v1/files/*/content',
      name: 'files.content',
      async answer(query) {
        const file = await files.find(query.caller.account, idIn(query))
        const headers = { 'content-type': 'application/octet-stream', 'content-length': String(file.data.bytes) }
        return { status: 200, headers, body: byteStream(await files.read(file), query.services.stallMs) }
      },
    }),
  ]
}

async function upload({ exchange, sizes, caller }: Query, files: Files): Promise<StoredFile> {
  const { account } = caller
  await files.requireRoom(account)
  const bounds = { ...sizes, fileBytes: Math.min(sizes.fileBytes, mostBytes) }
  // The purpose may follow the file, which is stored while it arrives.
  const form = await readForm(exchange, bounds, { passOn: () => true, check })
  let stored: StoredFile | undefined
  try {
    for await (const part of form.parts()) {
      if (!isFile(part) || part.name !== 'file') continue
      const { filename, bytes } = part
      stored = await files.add({ account, purpose: 'batch', filename: filename || 'file.jsonl' }, bytes)
    }
    return stored as StoredFile
  } catch (error) {
    if (stored !== undefined) await files.remove(account, stored.id)
    throw error
  } finally {
    form.dispose()
  }
}

/** Throws a 400 for anything but one file of purpose `batch`. `whole`: the form is complete. */
function check(form: UploadedForm, whole: boolean): void {
  for (const name of form.fields.keys()) {
    if (name === 'purpose') continue
    const message = `"${name.slice(0, 64)}" is not supported. Files are kept for 30 days.`
    throw refusedField(message, name.slice(0, 64))
  }
  const other = form.files.find((name) => name !== 'file')
  if (other !== undefined || form.files.length > 1) throw invalid('Send one file, in the field "file".', 'file')
  const [purpose] = form.fields.get('purpose') ?? []
  if (purpose !== undefined && purpose !== 'batch') {
    throw refusedValue('"purpose" must be "batch".', 'purpose')
  }
  if (!whole) return
  if (form.files.length === 0) throw invalid('Missing required parameter: "file".', 'file')
  if (purpose === undefined) throw invalid('Missing required parameter: "purpose".', 'purpose')
}

async function listed({ caller, exchange }: Query, files: Files): Promise<object> {
  const search = queryOf(exchange.target)
  const asked = {
    order: orderIn(search),
    after: placeIn(search, 'after', 'file'),
    limit: Math.min(limitIn(search, 100, 10_000), 1_000),
  }
  const purpose = search.get('purpose')
  const { page, hasMore } = await pageOf(
    (options) => files.list(caller.account, options),
    asked,
    ({ data }) => data.bytes !== undefined && (purpose ?? data.purpose) === data.purpose,
  )
  return {
    object: 'list',
    data: page.map(shape),
    first_id: page[0]?.id ?? '',
    last_id: page.at(-1)?.id ?? '',
    has_more: hasMore,
  }
}

function shape({ id, createdAt, expiresAt, data }: StoredFile): object {
  return {
    id,
    object: 'file',
    bytes: data.bytes,
    created_at: Math.floor(createdAt / 1_000),
    expires_at: Math.floor(expiresAt / 1_000),
    filename: data.filename,
    purpose: data.purpose,
    status: 'processed',
  }
}

/** The id in the path. Throws the 404 of every file that is not found. */
function idIn({ rest }: Query): string {
  const id = decodeSegment(rest)
  if (id === undefined || !isFileId(id)) throw noSuchFile()
  return id
}
