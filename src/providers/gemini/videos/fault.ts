/** Translates Google's errors about videos. */
import { entryIn, fieldsOf } from '../../../wire/json.ts'
import { messageOf, type VendorFault } from '../../vendor-error.ts'
import { isPolicy } from '../../videos/states.ts'
import { readFault } from '../../content/fault.ts'

/** The client's possible spellings of each of the vendor's fields. */
const fields: Readonly<Record<string, readonly string[]>> = {
  durationSeconds: ['duration'],
  duration: ['duration'],
  aspectRatio: ['aspect_ratio', 'aspectRatio', 'size'],
  aspect_ratio: ['aspect_ratio', 'aspectRatio', 'size'],
  resolution: ['resolution', 'size'],
  negativePrompt: ['negative_prompt', 'negativePrompt'],
  personGeneration: ['person_generation', 'personGeneration'],
  generateAudio: ['generate_audio', 'generateAudio'],
  seed: ['seed'],
  image: ['input_reference', 'image_url', 'image'],
  prompt: ['prompt'],
}

export function readVideoFault(fault: VendorFault): VendorFault {
  const read = readFault(fault)
  const message = messageOf(fault.error)
  if (fieldsOf(read.error)['code'] !== undefined) return read
  if (fault.status === 400 && isPolicy(message)) return { ...read, error: { code: 'content_policy_violation' } }
  const named = (message.match(/\w+/g) ?? []).flatMap((word) => entryIn(fields, word) ?? [])
  return { ...read, error: { param: named.find((field) => fault.sent?.(field) !== undefined) } }
}
