/** Subtitles in SubRip and WebVTT (https://www.w3.org/TR/webvtt1/). */
import type { TranscriptSegment } from '../../wire/transcriptions.ts'

/** Segments as SubRip. */
export function srtOf(segments: readonly TranscriptSegment[]): string {
  return segments
    .map(({ start, end, text }, index) => `${index + 1}\n${time(start, ',')} --> ${time(end, ',')}\n${cue(text)}\n\n`)
    .join('')
}

/** Segments as WebVTT. */
export function vttOf(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(({ start, end, text }) => `${time(start, '.')} --> ${time(end, '.')}\n${cue(text)}\n\n`)
  return `WEBVTT\n\n${cues.join('')}`
}

/** The end of the last cue in seconds; undefined for a text without cues. */
export function endOf(subtitles: string): number | undefined {
  const ends = [...subtitles.matchAll(/--> *(?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})/g)]
  const last = ends.at(-1)
  if (last === undefined) return undefined
  const [hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = last.slice(1).map((digits) => Number(digits ?? 0))
  return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
}

/** `hh:mm:ss,mmm` */
function time(seconds: number, point: ',' | '.'): string {
  const total = Math.round(seconds * 1000)
  const parts = [total / 3_600_000, (total / 60_000) % 60, (total / 1000) % 60]
  const clock = parts.map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')
  return `${clock}${point}${String(total % 1000).padStart(3, '0')}`
}

/** The text of a cue without empty lines, which would end it, and arrows, which would start another. */
function cue(text: string): string {
  const lines = text.split(/[\r\n]/).map((line) => line.trim())
  return lines
    .filter((line) => line !== '')
    .join('\n')
    .replaceAll('-->', '->')
}
