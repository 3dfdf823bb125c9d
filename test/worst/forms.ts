/** Multipart bodies, and the pictures in them. */
import { deflateSync } from 'node:zlib'
import { edits, transcriptions, videos, type WorstInput } from './input.ts'
import { chunk, pngOf } from './png.ts'

type Part = readonly [head: string, value: string | Buffer]

const boundary = 'worst-boundary'

function form(
  path: string,
  name: string,
  parts: (model: string) => Part[],
  preamble: () => Buffer = () => Buffer.alloc(0),
): WorstInput {
  const body = (model: string) =>
    Buffer.concat([
      preamble(),
      ...parts(model).flatMap(([head, value]) => [
        Buffer.from(`\r\n--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
        Buffer.from(value as string),
      ]),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ])
  return { name, path, contentType: `multipart/form-data; boundary=${boundary}`, body }
}

const upload = 24_000_000

export const formInputs: readonly WorstInput[] = [
  ...[transcriptions, edits].flatMap((path) => {
    const file = (bytes: Buffer): Part => [
      path === edits ? 'name="image"; filename="a.png"' : 'name="file"; filename="a.wav"',
      bytes,
    ]
    const some = (model: string): Part[] => [
      ['name="model"', model],
      ['name="prompt"', 'a sun'],
    ]
    const small = Buffer.from('RIFF')
    return [
      form(path, 'a large file', (model) => [...some(model), file(Buffer.alloc(upload, 'x'))]),
      form(path, 'a file of line breaks', (model) => [...some(model), file(Buffer.alloc(upload, '\r\n'))]),
      form(path, 'a file of almost boundaries', (model) => [
        ...some(model),
        file(Buffer.alloc(upload, `\r\n--${boundary.slice(0, -1)}`)),
      ]),
      form(path, 'a file of carriage returns', (model) => [...some(model), file(Buffer.alloc(upload, '\r'))]),
      form(path, 'the model behind a large file', (model) => [file(Buffer.alloc(upload, 'x')), ...some(model)]),
      form(path, 'fields of one name', (model) => [
        ...some(model),
        ...Array.from({ length: 990 }, (): Part => ['name="x"', 'x'.repeat(18_000)]),
        file(small),
      ]),
      form(path, 'fields of many names', (model) => [
        ...some(model),
        ...Array.from({ length: 990 }, (_, at): Part => [`name="${`x${at}`.padEnd(250, 'x')}"`, 'x'.repeat(18_000)]),
        file(small),
      ]),
      form(path, 'a list of many spellings', (model) => [
        ...some(model),
        ...Array.from({ length: 990 }, (_, at): Part => [`name="include[${at}]"`, 'x'.repeat(18_000)]),
        file(small),
      ]),
      form(path, 'a field of digits', (model) => [
        ...some(model),
        ['name="n"', '1'.repeat(2_000_000)],
        ['name="temperature"', `${'1'.repeat(1_000_000)}.${'1'.repeat(900_000)}x`],
        file(small),
      ]),
      form(
        path,
        'a long way to the first part',
        (model) => [...some(model), file(small)],
        () => Buffer.alloc(upload, '-'),
      ),
    ]
  }),
  form(videos, 'a large picture', (model) => [
    ['name="model"', model],
    ['name="prompt"', 'a sun'],
    ['name="seconds"', '5'],
    ['name="input_reference"; filename="a.png"\r\nContent-Type: image/png', Buffer.alloc(14_900_000, 'x')],
  ]),
  ...[
    ['of the largest size', () => pngOf(2_048, 2_048, 8, 6, (row) => row.fill(0x5a).fill(4, 0, 1))],
    ['of grey', () => pngOf(2_048, 2_048, 8, 0, (row) => row.fill(0xa5).fill(4, 0, 1))],
    ['of 16 bits a sample', () => pngOf(2_048, 2_048, 8, 2, (row) => row.fill(0x5a).fill(4, 0, 1))],
    [
      'of a palette',
      () => pngOf(2_048, 2_048, 8, 3, (row) => row.fill(1).fill(0, 0, 1), chunk('PLTE', Buffer.alloc(768, 7))),
    ],
    [
      'of very many parts',
      () =>
        Buffer.concat([
          pngOf(16, 16, 8, 6, (row) => row.fill(0)).subarray(0, 33),
          ...Array.from({ length: 1_000_000 }, (_, at) => chunk('IDAT', Buffer.alloc(at % 2))),
        ]),
    ],
    [
      'that unpacks to very much',
      () =>
        Buffer.concat([
          pngOf(16, 16, 8, 6, (row) => row.fill(0)).subarray(0, 33),
          chunk('IDAT', deflateSync(Buffer.alloc(500_000_000))),
          chunk('IEND', Buffer.alloc(0)),
        ]),
    ],
  ].map(([name, png]) =>
    form(edits, `a PNG ${name as string}`, (model) => [
      ['name="model"', model],
      ['name="prompt"', 'a sun'],
      ['name="size"', '2048x2047'],
      ['name="image"; filename="a.png"', (png as () => Buffer)()],
    ]),
  ),
]
