import { Plus, Upload } from 'lucide-react'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { NoMatch } from './NoMatch.tsx'
import { filtersOf, type useView } from './view.ts'

interface Props {
  resource: Resource
  pages: ReturnType<typeof useView>
  canCreate: boolean
}

/** Explains why the table is empty, and what to do. */
export function Empty({ resource, pages, canCreate }: Props) {
  const { one, many } = resource
  const { view } = pages
  if ((view.page ?? view.after) !== undefined)
    return <EmptyPage resource={resource} onFirst={() => pages.goToPage(1)} />
  if (Object.keys(filtersOf(resource, view)).length > 0) {
    return <NoMatch resource={resource} view={view} onChange={pages.change} />
  }
  return (
    <div className="empty">
      <h2>No {many} yet</h2>
      {canCreate ? (
        <>
          <p>
            Create the first one, import a file, or <a href="/docs">send a request</a>.
          </p>
          <div className="buttons">
            <Button icon={Plus} onPress={() => pages.open('new')}>
              Create the first {one}
            </Button>
            <Button icon={Upload} onPress={() => pages.open('import')}>
              Import a file
            </Button>
          </div>
        </>
      ) : (
        <p>Your role cannot create {many}. They appear here once someone creates them.</p>
      )}
    </div>
  )
}

/** A page whose records were deleted, or whose link has an invalid page number or cursor. */
export function EmptyPage({ resource, onFirst }: { resource: Resource; onFirst: () => void }) {
  return (
    <div className="empty">
      <h2>This page is empty</h2>
      <p>The {resource.many} on this page were deleted, or the link belongs to another list.</p>
      <div className="buttons">
        <Button onPress={onFirst}>Go to the first page</Button>
      </div>
    </div>
  )
}
