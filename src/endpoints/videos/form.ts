/** Video requests as forms, which OpenAI's clients send, with or without an image. */
import { invalid } from '../../errors.ts'
import { base64PiecesOf } from '../../http/base64.ts'
import { bodyFrom } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import { isFile, type FilePart } from '../../http/form.ts'
import { type JsonBody, tooLarge } from '../../http/json-body.ts'
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
    const names = new Set<string>()
    // Bytes, and joined once: copies of a text of the size of an image would block the process.
    const pieces: Buffer[] = []
    for await (const part of form.parts()) {
      if (names.has(part.name)) continue
      const key = `${names.size === 0 ? '{' : ','}${JSON.stringify(part.name)}:`
      names.add(part.name)
      pieces.push(Buffer.from(isFile(part) ? key : key + JSON.stringify(part.value)))
      if (isFile(part)) await addImage(pieces, part, sizes)
    }
    pieces.push(Buffer.from(names.size === 0 ? '{}' : '}'))
    return await bodyFrom(Buffer.concat(pieces), sizes)
  } finally {
    form.dispose()
  }
}

/** Adds an image as a `data:` URL, in JSON. `size` is known, because the form has arrived. */
async function addImage(
  pieces: Buffer[],
  { name, type, size = Infinity, bytes }: FilePart,
  sizes: Sizes,
): Promise<void> {
  if (!type.startsWith('image/')) throw invalid(`"${name}" must be an image, such as image/png.`, name)
  // Base64 needs four characters for three bytes.
  if (size * 4 > sizes.jsonBytes * 3) throw tooLarge(sizes.jsonBytes)
  pieces.push(Buffer.from(JSON.stringify({ image_url: `data:${type};base64,` }).slice(0, -2)))
  for await (const text of base64PiecesOf(bytes)) pieces.push(Buffer.from(text, 'latin1'))
  pieces.push(Buffer.from('"}'))
}
