/** Video requests as forms, which OpenAI's clients send, with or without an image. */
import { invalid } from '../../errors.ts'
import { base64Of } from '../../http/base64.ts'
import type { Exchange } from '../../http/exchange.ts'
import { isFile, type FilePart } from '../../http/form.ts'
import { JsonBody, tooLarge } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { readForm } from '../../http/upload.ts'

/** The only file that is allowed. */
const imageField = 'input_reference'

/**
 * Reads a form and converts it to a JSON request with the image as a `data:` URL, which is stored with the task. Throws
 * 400 for any other file, 413 if the result exceeds `sizes.jsonBytes`.
 */
export async function readVideoForm(exchange: Exchange, sizes: Sizes): Promise<JsonBody> {
  const form = await readForm(exchange, sizes, {
    passOn: () => false,
    check({ files }) {
      const other = files.find((name, index) => name !== imageField || index > 0)
      if (other === undefined) return
      throw invalid(`Only one file is allowed, an image as "${imageField}". Send "${other}" as a URL.`, other)
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

/** The `data:` URL of an image. `size` is known, because the form has arrived. */
async function dataUrlOf({ name, type, size = Infinity, bytes }: FilePart, sizes: Sizes): Promise<string> {
  if (!type.startsWith('image/')) throw invalid(`"${name}" must be an image, such as image/png.`, name)
  // Base64 needs four characters for three bytes.
  if (size * 4 > sizes.jsonBytes * 3) throw tooLarge(sizes.jsonBytes)
  return `data:${type};base64,${await base64Of(bytes)}`
}
