/** Conversion of content parts to those of a chat. */
import { GatewayError, invalid } from '../../../errors.ts'
import type { ContentPart } from '../../../wire/chat.ts'
import type { ResponsePart } from '../../../wire/responses.ts'
import { textOf } from '../../../wire/json.ts'

/** The chat part for a part of an item. Throws 400 if a chat has no equivalent; `place`: its path in the request. */
export function chatPart(part: ResponsePart, place: string): ContentPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'text':
      if (typeof part.text !== 'string') throw invalid(`Missing required parameter: "${place}.text".`, `${place}.text`)
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'text', text: textOf(part['refusal']) }
    case 'input_image':
      return imagePart(part, place)
    case 'input_file':
      return filePart(part, place)
    case 'input_audio':
      return { type: 'input_audio', input_audio: part['input_audio'] }
    default:
      throw unsupported(`${place}.type`, `This model does not support content of type "${part.type.slice(0, 64)}".`)
  }
}

function imagePart({ image_url: url, detail }: ResponsePart, place: string): ContentPart {
  if (typeof url !== 'string') {
    throw unsupported(`${place}.image_url`, 'This model requires "image_url", a URL or a data URL.')
  }
  const known = detail === 'low' || detail === 'high'
  return { type: 'image_url', image_url: { url, ...(known && { detail }) } }
}

function filePart({ file_data: data, file_url: url, filename, file_id: id }: ResponsePart, place: string): ContentPart {
  if (typeof data !== 'string') {
    const param = url !== undefined ? `${place}.file_url` : `${place}.${id !== undefined ? 'file_id' : 'file_data'}`
    throw unsupported(param, 'This model requires "file_data", a data URL.')
  }
  return { type: 'file', file: { file_data: data, ...(typeof filename === 'string' && { filename }) } }
}

function unsupported(param: string, message: string): GatewayError {
  return new GatewayError('unsupported_value', { param, message })
}
