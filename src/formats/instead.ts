import type { Block, FormatName, OwnBlock } from '../conversation/conversation.ts'
import type { Target } from './format.ts'

/** What the wire `format` says in place of a block that only another one has. What it cannot say is reported. */
export function insteadOf(
  { format: owner, instead, isNote, place = 'turns' }: OwnBlock,
  format: FormatName | 'generate',
  to: Pick<Target<unknown>, 'omit'>,
): readonly Block[] {
  if (instead === undefined || isNote === true) to.omit(place, `a block of ${owner}`)
  return (instead ?? []).flatMap((each) =>
    each.kind === 'own' && each.format !== format ? insteadOf(each, format, to) : [each],
  )
}
