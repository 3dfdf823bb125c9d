/** Lists the models of a vendor. */
import { fieldsOf, isRecord, type Fields } from '../wire/json.ts'
import type { ModelObject } from '../wire/model.ts'
import { readJsonObject, requireSuccess } from './answer.ts'
import type { Client } from './client.ts'
import { unreadable } from './failure.ts'
import type { FaultReader } from './vendor-error.ts'

/** `field` is the vendor's name of the list; models without an id are left out. */
export async function listModels(
  client: Client,
  { path, field, read, signal }: { path: string; field: string; read?: FaultReader; signal: AbortSignal },
  modelOf: (raw: Fields) => { id: string | undefined; created: number; owned_by: string },
): Promise<ModelObject[]> {
  const transfer = await client.send({ method: 'GET', path, signal })
  await requireSuccess(transfer, undefined, read)
  const list = fieldsOf((await readJsonObject(transfer, client.answerBytes)).value)[field]
  if (!Array.isArray(list)) throw unreadable("the vendor's response has no list of models", 'next')
  return list.filter(isRecord).flatMap((raw) => {
    const { id, created, owned_by } = modelOf(raw)
    return id === undefined ? [] : [{ id, object: 'model' as const, created, owned_by }]
  })
}
