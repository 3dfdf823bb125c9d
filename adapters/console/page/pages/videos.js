import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, get, send, urlOf } from '../api.js'
import { dateTime, relative } from '../format.js'
import { useLoad, usePages } from '../load.js'
import { usePlace } from '../location.js'
import { announce } from '../parts/announce.js'
import { StateBadge } from '../parts/badge.js'
import { Button, LinkButton, RefreshButton } from '../parts/button.js'
import { clipped } from '../parts/columns.js'
import { Details, Page } from '../parts/details.js'
import { Dialog, FormDialog } from '../parts/dialog.js'
import { AccountFilter, ChoiceFilter, ModelFilter } from '../parts/filters.js'
import { Empty, ErrorNotice } from '../parts/notice.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { VideoView } from '../shapes.d.ts' */

export function VideosPage() {
  const { role } = useSession()
  const { query } = usePlace()
  const [open, setOpen] = useState(/** @type {VideoView | undefined} */ (undefined))
  const { account, state, model } = query
  const { list, reload } = /** @type {Pages<VideoView>} */ (usePages('videos', { account, state, model }))
  const close = () => {
    setOpen(undefined)
    reload()
  }
  return h(
    Page,
    {
      title: t('page_videos'),
      actions: h(RefreshButton, { onClick: reload }),
    },
    h(
      'div',
      { class: 'filters' },
      h(ChoiceFilter, {
        name: 'state',
        label: t('state'),
        options: [['', t('all')], ...states.map((each) => /** @type {const} */ ([each, t(`state_${each}`)]))],
      }),
      h(ModelFilter, null),
      role === 'admin' && h(AccountFilter, null),
    ),
    table({
      caption: t('page_videos'),
      ...list,
      keyOf: ({ id }) => id,
      empty: h(Empty, { title: t('noVideos') }, t('noVideosHint')),
      columns: [
        {
          title: t('prompt'),
          head: true,
          cell: (video) =>
            h(
              'button',
              { type: 'button', class: 'link clip', onClick: () => setOpen(video) },
              video.prompt || video.id,
            ),
        },
        { title: t('by_model'), cell: (video) => video.model },
        role === 'admin' && clipped(t('by_account'), (video) => video.account),
        { title: t('state'), cell: (video) => h(State, { video }) },
        { title: t('unit_seconds'), numeric: true, cell: ({ seconds }) => seconds ?? '–' },
        { title: t('created'), oneLine: true, cell: ({ createdAt }) => dateTime(createdAt) },
      ],
    }),
    open !== undefined && h(VideoDialog, { video: open, onClose: close }),
  )
}

const states = /** @type {const} */ (['pending', 'processing', 'completed', 'failed'])

/** @param {{ video: VideoView }} properties */
function State({ video: { state, progress } }) {
  const percent =
    state === 'processing' && progress !== undefined ? h('small', null, ` ${Math.round(progress)} %`) : null
  return h('span', null, h(StateBadge, { state }), percent)
}

/** A video as it is now, with the film once there is one. @param {{ video: VideoView, onClose: () => unknown }} properties */
function VideoDialog({ video: listed, onClose }) {
  const { readOnly } = useSession()
  const [deleting, setDeleting] = useState(false)
  const path = accountPath(listed.account, 'videos', listed.id)
  const { data = listed, error, reload } = useLoad((signal) => get(path, {}, signal), [path])
  const video = /** @type {VideoView} */ (data)
  const submit = async () => {
    await send('DELETE', path)
    announce(t('deleted'))
    onClose()
  }
  if (deleting) {
    return h(
      FormDialog,
      { title: t('deleteVideo'), action: t('delete'), danger: true, submit, onClose, key: 1 },
      h('p', null, t('deleteVideoHint')),
      h('p', { class: 'prompt fine' }, video.prompt),
    )
  }
  return h(
    Dialog,
    { title: t('video'), onClose, wide: true },
    video.state === 'completed' && h(Film, { src: urlOf(`${path}/content`) }),
    h('p', { class: 'prompt' }, video.prompt),
    h(Details, {
      rows: [
        [t('state'), h(State, { video })],
        [t('error'), video.error && `${video.error.message} (${video.error.code})`],
        [t('by_model'), video.model],
        [t('provider'), video.provider && `${video.provider} · ${video.providerModel ?? ''}`],
        [t('unit_seconds'), video.seconds],
        [t('size'), video.size],
        [t('by_account'), video.account],
        [t('by_user'), video.user],
        [t('created'), dateTime(video.createdAt)],
        [t('finished'), video.finishedAt && dateTime(video.finishedAt)],
        [t('expires'), relative(video.expiresAt, Date.now())],
        ['ID', h('code', null, video.id)],
      ],
    }),
    h(ErrorNotice, { error }),
    h(
      'footer',
      null,
      !readOnly && h(Button, { kind: 'danger', onClick: () => setDeleting(true) }, t('delete')),
      video.state === 'completed' &&
        h(LinkButton, { href: urlOf(`${path}/content`), icon: 'download', download: true }, t('download')),
      video.state !== 'completed' && h(Button, { icon: 'refresh', onClick: reload }, t('refresh')),
    ),
  )
}

/** @param {{ src: string }} properties */
function Film({ src }) {
  const [failed, setFailed] = useState(false)
  // A vendor's own URL is another origin, which the page cannot show.
  if (failed) return h('p', { class: 'notice' }, t('noPreview'))
  return h('video', {
    src,
    controls: true,
    preload: 'metadata',
    playsInline: true,
    'aria-label': t('video'),
    onError: () => setFailed(true),
  })
}
