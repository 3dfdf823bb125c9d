/** The video request as a form, which is what OpenAI's clients send: with a picture to begin with, or without any file. */
import { buffer } from 'node:stream/consumers'
import { invalid } from '../../errors.ts'
import type { Exchange } from '../../http/exchange.ts'
import { isFile, type FilePart } from '../../http/form.ts'
import { JsonBody, tooLarge } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { readForm } from '../../http/upload.ts'

/** The one file that is taken. */
const picture = 'input_reference'

/** The same request as JSON, the picture as a data URL: it is kept with the task, and must fit `sizes.jsonBytes`. */
export async function readVideoForm(exchange: Exchange, sizes: Sizes): Promise<JsonBody> {
  const form = await readForm(exchange, sizes, {
    passOn: () => false,
    check({ files }) {
      const other = files.find((name, index) => name !== picture || index > 0)
      if (other === undefined) return
      throw invalid(`One file is taken here, a picture as "${picture}": give "${other}" as a URL.`, other)
    },
  })
  try {
    const fields = new Map<string, unknown>()
    for await (const part of form.parts()) {
      if (!fields.has(part.name))
        fields.set(part.name, isFile(part) ? { image_url: await dataUrlOf(part, sizes) } : part.value)
    }
    return JsonBody.fromValue(Object.fromEntries(fields), sizes)
  } finally {
    form.dispose()
  }
}

/** The form has come, so its files tell their sizes. */
async function dataUrlOf({ name, type, size = Infinity, bytes }: FilePart, sizes: Sizes): Promise<string> {
  if (!type.startsWith('image/')) throw invalid(`"${name}" must be a picture, such as image/png.`, name)
  // Base64 takes four bytes for three.
  if (size * 4 > sizes.jsonBytes * 3) throw tooLarge(sizes.jsonBytes)
  return `data:${type};base64,${(await buffer(bytes)).toString('base64')}`
}
