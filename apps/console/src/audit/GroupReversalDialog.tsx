import { useQuery } from '@tanstack/react-query'
import { ReversalDialog } from '../changes/ReversalDialog.tsx'
import { client } from '../client.ts'
import type { Resource } from '../resources/resource.ts'
import { undoWritten } from '../table/history.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount } from '../ui/format.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { countsOf, type Line, verbOf } from './entries.ts'

interface Props {
  resource: Resource
  group: string
  line: Line
  onClose: () => void
}

/** Asks before it undoes the requests of a group; of a single one it shows a preview. */
export function GroupReversalDialog({ resource, group, line, onClose }: Props) {
  const query = useQuery({
    queryKey: ['reversals', group],
    queryFn: ({ signal }) => client.reversals.open.query({ group }, { signal }),
    gcTime: 0,
  })
  const total = query.data?.total ?? 0
  const [only] = query.data?.requests ?? []
  if (only !== undefined && total === 1)
    return <ReversalDialog resource={resource} requestId={only.request_id} isImmediate onClose={onClose} />
  const undo = () => {
    onClose()
    void undoWritten(resource, { request: { group }, changes: [], count: line.total })
  }
  return (
    <ModalDialog title={`Undo: ${verbOf(line)} ${countsOf(line)}?`} onClose={onClose}>
      <Loaded query={query} title="The requests cannot be loaded" waiting="Counting…">
        {() => (
          <p>
            {total === 0
              ? 'It is undone already.'
              : `This undoes ${formatCount(total, { one: 'request', many: 'requests' })}, the newest first. It stops at a record that has changed since.`}
          </p>
        )}
      </Loaded>
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        <Button className="button primary" isDisabled={total === 0} onPress={undo}>
          Undo
        </Button>
      </footer>
    </ModalDialog>
  )
}
