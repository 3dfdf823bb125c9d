import { expect, test } from 'vitest'
import { FrameWindow } from '../../src/providers/frame-window.ts'

function framesIn(window: FrameWindow, ...reads: readonly (string | Buffer)[]): string {
  if (!window.push(reads.map((read) => Buffer.from(read)))) return ''
  return window.view.bytes.toString('utf8', window.start, window.view.size)
}

test('finds the frames of reads that arrived together', () => {
  const window = new FrameWindow()
  expect(framesIn(window, 'data: 1\n', '\ndata: 2', '\n\nda', 'ta: 3')).toBe('data: 1\n\ndata: 2\n\n')
  expect(framesIn(window, '\n\n')).toBe('data: 3\n\n')
  expect(window.rest()).toBe('')
})

test('windows that are used in turns do not see the bytes of each other', () => {
  const windows = ['a', 'b', 'c'].map((name) => ({ name, window: new FrameWindow() }))
  for (const { name, window } of windows) expect(framesIn(window, `data: ${name}`)).toBe('')
  for (const { name, window } of windows) expect(framesIn(window, `${name}\n\nda`)).toBe(`data: ${name}${name}\n\n`)
  for (const { window } of windows) expect(window.rest()).toBe('da')
})

test.each([1_000, 16 * 1024 - 3, 16 * 1024, 70_000, 700_000])(
  'a frame of %i bytes is whole wherever it is cut',
  (size) => {
    const frame = `data: ${'x'.repeat(size)}\n\n`
    const bytes = Buffer.from(`${frame}data: 2\n\n`)
    for (const cut of [1, 7, 16 * 1024, frame.length - 2, frame.length - 1, frame.length, frame.length + 1]) {
      const window = new FrameWindow()
      const first = framesIn(window, bytes.subarray(0, cut))
      expect(first === '' || first === frame || first.length === bytes.length).toBe(true)
      expect(first + framesIn(window, bytes.subarray(cut)) === bytes.toString()).toBe(true)
    }
    const window = new FrameWindow()
    let text = ''
    for (let at = 0; at < bytes.length; at += 4_093) text += framesIn(window, bytes.subarray(at, at + 4_093))
    expect(text === bytes.toString()).toBe(true)
  },
)

test('the work on a large frame grows with its size, not with the square', () => {
  const window = new FrameWindow()
  const piece = Buffer.alloc(4_096, 'x')
  const copied = { bytes: 0 }
  const { copy } = Buffer.prototype
  Buffer.prototype.copy = function (this: Buffer, ...values: Parameters<Buffer['copy']>) {
    const size = copy.apply(this, values)
    copied.bytes += size
    return size
  }
  try {
    for (let count = 0; count < 2_000; count++) window.push([piece])
  } finally {
    Buffer.prototype.copy = copy
  }
  expect(copied.bytes).toBeLessThan(4 * 2_000 * piece.length)
})
