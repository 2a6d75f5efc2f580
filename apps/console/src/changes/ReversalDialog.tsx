import { useQuery } from '@tanstack/react-query'
import { previewOf } from '../resources/calls.ts'
import type { Resource } from '../resources/resource.ts'
import { reasonOf, undoRequest } from '../table/history.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { PreviewedChanges } from './Changes.tsx'

interface Props {
  resource: Resource
  requestId: string
  onClose: () => void
}

/** Shows what undoing a request would do, then does exactly that. */
export function ReversalDialog({ resource, requestId, onClose }: Props) {
  const query = useQuery({
    queryKey: ['preview', requestId],
    queryFn: () => previewOf('reversals.create', { request_id: requestId }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const { data: preview, error } = query
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
        <Button
          className="button primary"
          isDisabled={preview === undefined}
          onPress={() => {
            if (preview === undefined) return
            onClose()
            void undoRequest(resource, requestId, preview)
          }}
        >
          Undo
        </Button>
      </footer>
    </ModalDialog>
  )
}
