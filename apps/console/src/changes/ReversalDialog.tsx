import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { previewOf } from '../resources/calls.ts'
import type { Resource } from '../resources/resource.ts'
import { reasonOf, undoRequest } from '../table/history.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { useIsAfter } from '../ui/later.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { PreviewedChanges } from './Changes.tsx'

interface Props {
  resource: Resource
  requestId: string
  /** Whether to undo a change of one record without asking: the page shows the change, and it can be redone. */
  isImmediate?: boolean
  onClose: () => void
}

// A shorter wait needs no picture.
const SLOW_MS = 300

/** Shows what undoing a request would do, then does exactly that. */
export function ReversalDialog({ resource, requestId, isImmediate = false, onClose }: Props) {
  const query = useQuery({
    queryKey: ['preview', requestId],
    queryFn: () => previewOf('reversals.create', { request_id: requestId }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const { data: preview, error } = query
  const isAlone = isImmediate && preview !== undefined && preview.created + preview.updated + preview.deleted === 1
  const isSlow = useIsAfter(SLOW_MS)
  const undo = () => {
    if (preview === undefined) return
    onClose()
    void undoRequest(resource, requestId, preview)
  }
  const undoAtOnce = useEffectEvent(undo)
  useEffect(() => {
    if (isAlone) undoAtOnce()
  }, [isAlone])
  if (isAlone || (isImmediate && query.isPending && !isSlow)) return null
  return (
    <ModalDialog title="Undo this change?" isWide onClose={onClose}>
      {error === null ? (
        <Loaded query={query} title="The preview failed" waiting="Counting…">
          {(preview) => <PreviewedChanges preview={preview} />}
        </Loaded>
      ) : (
        <FailedLine>It cannot be undone. {reasonOf(resource, [], error)}</FailedLine>
      )}
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        <Button className="button primary" isDisabled={preview === undefined} onPress={undo}>
          Undo
        </Button>
      </footer>
    </ModalDialog>
  )
}
